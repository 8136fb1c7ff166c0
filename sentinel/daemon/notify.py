"""What the service manager is told: sd_notify(3), over the datagram socket that systemd names in the environment."""

import os
import socket
import time
from collections.abc import Callable, Mapping

import structlog

from sentinel.errors import ConfigError

__all__ = ["Notifier"]

_log = structlog.get_logger()

# Nobody waits for a service manager that is stuck: a message that does not go out in this time is lost.
_SEND_SECONDS = 1.0


class Notifier:
    """Messages of the unit's main process. Without NOTIFY_SOCKET they go nowhere.

    ConfigError when the environment holds what systemd would not write. The methods raise nothing: a message that
    cannot be sent is logged, once until one goes through again.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        process_id: int | None = None,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._address = _address(environment.get("NOTIFY_SOCKET", ""))
        self._monotonic_ns = monotonic_ns
        self._failing = False
        self.watchdog_seconds = _watchdog_seconds(environment, os.getpid() if process_id is None else process_id)
        """WATCHDOG=1 is expected within it, each time; None: not expected, or not of this process."""

    @property
    def beat_seconds(self) -> float | None:
        """How often to say `alive`, as sd_watchdog_enabled(3) advises: half of the watchdog's time."""
        return None if self.watchdog_seconds is None else self.watchdog_seconds / 2.0

    def ready(self, status: str) -> None:
        """It is up, or has taken (or refused) another configuration."""
        self._send("READY=1", f"STATUS={_line(status)}")

    def reloading(self) -> None:
        """It takes another configuration; `ready` ends that. Type=notify-reload needs the time of CLOCK_MONOTONIC."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={self._monotonic_ns() // 1000}")

    def stopping(self) -> None:
        """It was told to stop, and does."""
        self._send("STOPPING=1", "STATUS=stopping")

    def alive(self) -> None:
        """To be called where work gets done, so that work that hangs is noticed; not from a thread of its own."""
        if self.watchdog_seconds is not None:
            self._send("WATCHDOG=1")

    def status(self, text: str) -> None:
        """One line for `systemctl status`."""
        self._send(f"STATUS={_line(text)}")

    def _send(self, *assignments: str) -> None:
        if self._address is None:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as connection:
                connection.settimeout(_SEND_SECONDS)
                connection.sendto("\n".join(assignments).encode(errors="replace"), self._address)
        except OSError as error:
            if not self._failing:
                _log.warning("the service manager cannot be told", error=str(error))
            self._failing = True
        else:
            self._failing = False


def _address(text: str) -> str | None:
    """As the socket module takes it: an abstract name begins with a null byte."""
    if not text:
        return None
    if text.startswith("@") and len(text) > 1:
        return f"\0{text[1:]}"
    if text.startswith("/"):
        return text
    raise ConfigError(
        "the service manager cannot be told anything",
        where=f"NOTIFY_SOCKET={text}",
        why="it is neither a path nor the @name of an abstract socket",
    )


def _watchdog_seconds(environment: Mapping[str, str], process_id: int) -> float | None:
    text = environment.get("WATCHDOG_USEC")
    if text is None or environment.get("WATCHDOG_PID", str(process_id)) != str(process_id):
        return None
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ConfigError("the watchdog's time is wrong", where=f"WATCHDOG_USEC={text}", why="not microseconds above 0")
    return int(text) / 1e6


def _line(text: str) -> str:
    """Each line of a message is an assignment, so that a text of several could say more than it should."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())
