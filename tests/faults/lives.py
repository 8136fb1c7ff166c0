"""Daemons that live until they are killed, one after the other, each in a process of its own.

Run as a program it reads lines `FIRST LAST`: for each it forks a daemon that runs these ticks, says `life PID`, then
`tick N` as each begins, and `over` when that process has ended. A daemon that has run its last tick waits to be killed;
one whose line ends in `stop` stops by itself. Forking saves what importing costs.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from faults.history import History
from faults.station import Station


class Lives:
    """The parent's side. `killed` counts."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.killed = 0

    def live(self, first: int, last: int) -> int:
        """A daemon that will run these ticks; its process."""
        return int(self._ask(f"{first} {last}").removeprefix("life "))

    def kill(self, process_id: int) -> int | None:
        """End it now; the last tick that it began."""
        os.kill(process_id, signal.SIGKILL)
        self.killed += 1
        return self._last_tick()

    def finish(self, first: int, last: int) -> int | None:
        """A daemon that runs these ticks and stops by itself; the last one that it began."""
        self._ask(f"{first} {last} stop")
        return self._last_tick()

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        if not line:
            raise RuntimeError("the lives have ended: see the log")
        return line

    def _last_tick(self) -> int | None:
        last = None
        while (line := self._read()) != "over":
            last = int(line.removeprefix("tick "))
        return last


@contextmanager
def lives(directory: Path, history: History, store: str, replicas: list[str], name: str) -> Iterator[Lives]:
    arguments = json.dumps([str(directory), history.start, store, replicas, name])
    process = subprocess.Popen(
        [sys.executable, __file__, arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
    )
    try:
        yield Lives(process)
    finally:
        process.communicate(timeout=30)


def main() -> None:
    directory, start, store, replicas, name = json.loads(sys.argv[1])
    station = Station(Path(directory), History(start, ""), store, replicas, name)
    for line in sys.stdin:
        first, last, *stop = line.split()
        child = os.fork()
        if child == 0:
            run(station, int(first), int(last), stop=bool(stop))
            os._exit(0)
        say(f"life {child}")
        os.waitpid(child, 0)
        say("over")


def run(station: Station, first: int, last: int, *, stop: bool) -> None:
    station.pass_to(first - 1)
    station.open()
    while station.tick < last:
        station.pass_to(station.tick + 1)
        say(f"tick {station.tick}")
        station.watch.run()
    if stop:
        station.close()
        return
    signal.pause()


def say(text: str) -> None:
    # One write, so that lines of two processes do not mix.
    os.write(sys.stdout.fileno(), f"{text}\n".encode())


if __name__ == "__main__":
    main()
