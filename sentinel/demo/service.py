"""One long-running process of the demo, with its log."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from sentinel.demo import tether
from sentinel.errors import SentinelError

__all__ = ["Service", "last_lines"]

_GRACE_SECONDS = 5.0


class Service:
    """A started process. Its output goes to a file, and it dies with this process unless it was told to stay."""

    def __init__(self, name: str, command: Sequence[str | Path], *, log: Path, stays: bool = False) -> None:
        self.name = name
        self._log = log
        arguments = [str(part) for part in command]
        if not stays:
            arguments = [sys.executable, "-I", "-S", tether.__file__, str(os.getpid()), *arguments]
        with log.open("wb") as output:
            # A session of its own: Ctrl-C reaches the demo alone, which then stops its processes in order.
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def check(self) -> None:
        """SentinelError with the end of its log when the process has ended."""
        status = self._process.poll()
        if status is None:
            return
        raise SentinelError(
            f"{self.name} ended before the demo did, with exit status {status}",
            where=str(self._log),
            why="it said last:\n" + last_lines(self._log),
        )

    def stop(self) -> None:
        """End the process: asked first, killed when it takes longer than five seconds."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def last_lines(log: Path, count: int = 8) -> str:
    """The end of a log, indented."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return "\n".join(f"    {line}" for line in lines[-count:]) or "    (nothing)"
