"""What holds for every test: no configuration from outside, no waiting between retries."""

import os
from collections.abc import Iterator

import pytest
import stamina


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("SENTINEL_") or name == "STATE_DIRECTORY":
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _retries_without_waiting() -> Iterator[None]:
    with stamina.set_testing(True, attempts=100, cap=True):
        yield
