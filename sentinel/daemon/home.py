"""The daemon's state directory: locked, and its database open."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import structlog

from sentinel.errors import StateError
from sentinel.model.incident import Incident
from sentinel.state.database import FILE_NAME, BrokenStateError, make_directory, move_away
from sentinel.state.lock import DirectoryLock
from sentinel.state.store import State

__all__ = ["Home"]

_log = structlog.get_logger()


class Home:
    """Kept over reloads that name the same directory. StateError when it cannot be had.

    What has worked keeps no daemon from starting: a broken database is moved away, and one that cannot be written is
    read, until it can. `count_error` is called then.
    """

    def __init__(self, directory: Path, count_error: Callable[[], None] = lambda: None) -> None:
        self.directory = directory
        self._count_error = count_error
        make_directory(directory)
        with ExitStack() as stack:
            # First: what looks broken must not be another daemon's.
            stack.enter_context(DirectoryLock(directory))
            self.state = stack.enter_context(self._open())
            self._stack = stack.pop_all()

    def close(self) -> None:
        """Let go of it."""
        self._stack.close()

    def incidents_since(self, time: float) -> list[Incident]:
        """Those that go on, or ended after the Unix time; none where the database proves to be broken."""
        try:
            return self.state.incidents_since(time)
        except BrokenStateError as error:
            self._tell(error, self.state.renew())
            return []

    def _open(self) -> State:
        try:
            return State.open(self.directory)
        except BrokenStateError as error:
            self._tell(error, move_away(self.directory))
            return State.open(self.directory)
        except StateError as error:
            if not os.path.exists(self.directory / FILE_NAME):  # noqa: PTH110 (never raises)
                raise  # it never was: the configuration is wrong
            state = State.open_copy(self.directory)
            self._count_error()
            _log.error("the state cannot be written: what it holds is known, what comes is not kept", error=str(error))
            return state

    def _tell(self, error: BrokenStateError, moved_to: Path) -> None:
        self._count_error()
        _log.error("the state is broken: a new one is made", error=str(error), moved_to=str(moved_to))
