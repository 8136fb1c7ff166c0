"""A terminal's keyboard, key by key."""

import os
import select
import termios
import tty
from types import TracebackType
from typing import Final, Self

from sentinel.top.keys import Key, KeyDecoder
from sentinel.top.wakeup import Wakeup

__all__ = ["Keyboard"]

_ESCAPE_SECONDS: Final = 0.1  # the pieces of one key are closer together, also through SSH


class Keyboard:
    """Keys without Enter and without echo, as a context manager; Ctrl-C and Ctrl-Z stay signals."""

    def __init__(self, fd: int, wakeup: Wakeup) -> None:
        self._fd = fd
        self._wakeup = wakeup
        self._decoder = KeyDecoder()

    def __enter__(self) -> Self:
        self._before = termios.tcgetattr(self._fd)
        tty.setcbreak(self._fd, termios.TCSADRAIN)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)

    def wait(self, seconds: float) -> list[Key]:
        """The keys that come next; none where something else woke, or nothing did for that long.

        EOFError when the terminal is gone.
        """
        patience = min(seconds, _ESCAPE_SECONDS) if self._decoder.pending else seconds
        woken = self._wakeup.fileno()
        ready, _, _ = select.select([self._fd, woken], [], [], max(0.0, patience))
        if woken in ready:
            self._wakeup.clear()
        if self._fd in ready:
            data = os.read(self._fd, 4096)
            if not data:
                raise EOFError
            return self._decoder.feed(data)
        return [] if ready else self._decoder.settle()
