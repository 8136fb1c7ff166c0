import contextlib
import json
import logging

import pytest
import structlog

from sentinel.config.log import LogFormat, LogLevel, LogSettings
from sentinel.daemon.log import configure_log


def test_away_from_a_terminal_every_line_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    configure_log(LogSettings())
    structlog.get_logger().info("incident opened", rank=3)
    structlog.get_logger().debug("not shown")
    logging.getLogger("somebody").warning("by a library: %s", 3)
    logging.getLogger("somebody").info("not shown")
    out, err = capsys.readouterr()
    lines = [json.loads(line) for line in err.splitlines()]
    assert out == ""
    assert [line["event"] for line in lines] == ["incident opened", "by a library: 3"]
    assert [line["level"] for line in lines] == ["info", "warning"]
    assert lines[0]["rank"] == 3
    assert lines[0]["timestamp"].endswith("Z")


def test_a_log_that_cannot_be_written_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/full", "w", buffering=1) as full:  # noqa: PTH123
        monkeypatch.setattr("sys.stderr", full)
        configure_log(LogSettings())
        structlog.get_logger().error("tick failed")
        logging.getLogger("somebody").error("by a library")
        monkeypatch.undo()
        with contextlib.suppress(OSError):
            full.close()


def test_an_exception_is_one_line_too(capsys: pytest.CaptureFixture[str]) -> None:
    configure_log(LogSettings())
    try:
        _ = 1 / 0
    except ZeroDivisionError:
        structlog.get_logger().exception("tick failed")
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["exception"][0]["exc_type"] == "ZeroDivisionError"


def test_text_and_level_as_configured(capsys: pytest.CaptureFixture[str]) -> None:
    configure_log(LogSettings(level=LogLevel.ERROR, format=LogFormat.TEXT))
    structlog.get_logger().warning("not shown")
    structlog.get_logger().error("shown", rank=3)
    err = capsys.readouterr().err
    assert "not shown" not in err
    assert "rank=3" in err
    assert not err.startswith("{")
