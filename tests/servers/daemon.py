"""`sentinel run` as a process."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from servers.process import wait_until


class Daemon:
    """`sentinel run` and what it logs."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self._log = log

    def events(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self._log.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def wait_for(self, event: str, count: int = 1) -> None:
        wait_until(lambda: sum(each["event"] == event for each in self.events()) >= count, event)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> float:
        """Seconds that it took to end, without an error."""
        began = time.monotonic()
        self.process.send_signal(number)
        assert self.process.wait(20) == 0
        return time.monotonic() - began


@contextmanager
def daemon(config: Path) -> Iterator[Daemon]:
    log = config.with_suffix(".log")
    with log.open("wb") as stderr:
        arguments = [sys.executable, "-m", "sentinel", "run", "--config", str(config)]
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=stderr, env=dict(os.environ))
    try:
        yield Daemon(process, log)
    finally:
        process.kill()
        process.wait()
