"""What holds for every test: no configuration from outside, no waiting between retries, no log of another test's."""

import logging
import os
from collections.abc import Iterator

import pytest
import stamina
import structlog


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("SENTINEL_") or name == "STATE_DIRECTORY":
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _retries_without_waiting() -> Iterator[None]:
    with stamina.set_testing(True, attempts=100, cap=True):
        yield


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    """Who configures the log sends it to the stderr that this test has."""
    handlers, level = list(logging.root.handlers), logging.root.level
    yield
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    structlog.reset_defaults()
