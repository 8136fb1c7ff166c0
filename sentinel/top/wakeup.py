"""What ends a wait for keys: news from another thread, a new size, Ctrl-Z."""

import contextlib
import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Self

__all__ = ["Wakeup"]


class Wakeup:
    """A pipe to select on. Call it, from any thread, to wake; signals do so too.

    SIGINT and SIGTERM raise KeyboardInterrupt and SystemExit, but not while they are held, as they are at first: a
    terminal is taken and given back as a whole, also for whoever presses Ctrl-C twice.
    """

    def __enter__(self) -> Self:
        self._open, self._lock = True, threading.Lock()
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        os.set_blocking(self._write_end, False)
        self._fd_before = signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
        self._suspend, self._held, self._ended = False, True, 0
        handlers = {
            signal.SIGWINCH: _note,
            signal.SIGTSTP: self._note_suspend,
            signal.SIGTERM: self._end,
            signal.SIGINT: self._end,
        }
        self._before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._fd_before)
        with self._lock:
            self._open = False
            os.close(self._read_end)
            os.close(self._write_end)

    def __call__(self) -> None:
        """Wake."""
        with self._lock:
            if self._open:
                with contextlib.suppress(BlockingIOError):  # full: awake already
                    os.write(self._write_end, b"\0")

    def fileno(self) -> int:
        """For select."""
        return self._read_end

    def clear(self) -> None:
        """What woke is known now."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self._read_end, 4096):
                pass

    def take_suspend(self) -> bool:
        """Whether somebody wants the process to stop, as Ctrl-Z does."""
        wanted, self._suspend = self._suspend, False
        return wanted

    def hold(self) -> None:
        """From now on SIGINT and SIGTERM wait."""
        self._held = True

    def release(self) -> None:
        """They wait no longer, nor does one that has come."""
        self._held = False
        if self._ended:
            self._end(self._ended, None)

    def suspend(self) -> None:
        """Stop here, until somebody has the process go on."""
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, handler)

    def _note_suspend(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._suspend = True

    def _end(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._ended = number
        if self._held:
            return
        self._held = True
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)


def _note(number: int, frame: FrameType | None) -> None:
    """That it wakes is all."""
