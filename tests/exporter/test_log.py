# SPDX-License-Identifier: Apache-2.0
"""Log lines."""

import logging
import sys

import pytest
from nccl_exporter.log import LogfmtFormatter


def line(message: str, level: int = logging.INFO, **more: object) -> str:
    record = logging.LogRecord("x", level, "file", 1, message, (), None)
    record.created = 1_795_980_960.5
    for name, value in more.items():
        setattr(record, name, value)
    return LogfmtFormatter().format(record)


@pytest.mark.parametrize(
    ("level", "name"),
    [(logging.DEBUG, "debug"), (logging.INFO, "info"), (logging.WARNING, "warn"), (logging.ERROR, "error")],
)
def test_line(level: int, name: str) -> None:
    assert line("hello", level) == f'ts=2026-11-29T19:36:00.500Z level={name} msg="hello"'


def test_nothing_in_a_message_ends_the_line_or_the_quotes() -> None:
    assert line('a "b"\nlevel=error \x1b[31m\\ µ').endswith(r'msg="a \"b\"\nlevel=error \u001b[31m\\ µ"')


def test_traceback_stays_on_the_line() -> None:
    try:
        int("why")
    except ValueError:
        text = line("failed", logging.ERROR, exc_info=sys.exc_info())
    assert "\n" not in text
    assert text.endswith("base 10: 'why'\"")
