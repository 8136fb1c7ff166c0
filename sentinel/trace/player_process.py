"""One `nccl-trace-player` with its pipes."""

import os
import selectors
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import orjson

from sentinel.errors import TraceError

__all__ = ["PlayerProcess"]

_END_SECONDS = 10.0


class PlayerProcess:
    """A running player of one rank. Its stderr goes to `log`; what it says on stdout is read when asked for."""

    def __init__(self, rank: int, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self.rank = rank
        self._log = log
        self._unread = b""
        self._events: list[dict[str, Any]] = []
        try:
            with log.open("wb") as stderr:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    env=dict(environment),
                    bufsize=0,
                )
        except OSError as error:
            raise TraceError("cannot start the player", where=command[0], why=error.strerror or str(error)) from error

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def send(self, command: str) -> None:
        """Write one command. TraceError when the player has died."""
        assert self._process.stdin is not None  # noqa: S101 (it was opened with a pipe)
        try:
            self._process.stdin.write(command.encode() + b"\n")
        except BrokenPipeError:
            self._process.wait(_END_SECONDS)
            self.check()

    def expect(self, event: str, deadline: float) -> dict[str, Any]:
        """The next thing of that kind that it says, before `deadline` (time.monotonic). TraceError when it does not."""
        while True:
            while self._events:
                said = self._events.pop(0)
                if said["event"] == event:
                    return said
            if not self._read(max(0.0, deadline - monotonic())):
                self.check()
                raise TraceError(
                    f"cannot play rank {self.rank}",
                    where=f"process {self.pid}",
                    why=f"the player did not answer ({event})",
                    hint=f"See {self._log}; a machine under heavy load answers late",
                )

    def check(self) -> None:
        """TraceError with the last line of its stderr when it has ended."""
        status = self._process.poll()
        if status is None:
            return
        lines = self._log.read_text(errors="replace").splitlines()
        ending = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        raise TraceError(
            f"cannot play rank {self.rank}",
            where=f"process {self.pid}, {ending}",
            why=lines[-1] if lines else "the player has ended",
            hint=f"See {self._log}",
        )

    def ask_to_end(self) -> None:
        """SIGTERM."""
        self._process.terminate()

    def end(self, deadline: float) -> None:
        """Wait until it has ended, and kill it at the deadline (time.monotonic)."""
        try:
            self._process.wait(max(0.0, deadline - monotonic()))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _read(self, timeout: float) -> bool:
        """Take in what it says; false when it says nothing in time, or nothing any more."""
        assert self._process.stdout is not None  # noqa: S101 (it was opened with a pipe)
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(timeout):
                return False
        data = os.read(self._process.stdout.fileno(), 65536)
        if not data:
            self._process.wait(_END_SECONDS)
            return False
        *lines, self._unread = (self._unread + data).split(b"\n")
        self._events += map(orjson.loads, lines)
        return True
