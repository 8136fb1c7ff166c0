"""Commands, run in this process."""

import logging
import sys
from collections.abc import Iterator

import pytest
import structlog
from servers.command import Result, Run

from sentinel.cli import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """`run("status", "--json")`: exit status, stdout and stderr. The log is put back afterwards."""
    handlers, level = list(logging.root.handlers), logging.root.level

    def call(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["sentinel", *map(str, arguments)])
        capsys.readouterr()
        try:
            main()
            status = 0
        except SystemExit as leaving:
            status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        out, err = capsys.readouterr()
        return Result(status, out, err)

    yield call
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    structlog.reset_defaults()
