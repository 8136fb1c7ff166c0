"""Killed at any instant, the state is whole: a tick is there with its incident, or neither is."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

from sentinel.state.database import FILE_NAME
from sentinel.state.store import State

WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from servers.incidents import incident
from sentinel.state.store import State
from sentinel.state.tick import Outcome, TickRecord
with State.open(Path(sys.argv[1])) as state:
    last = state.last_tick()
    number = int(last.time) if last else 0
    while True:
        number += 1
        state.record(TickRecord(float(number), Outcome.OK, 0.1, 1), [incident(f"{number:08d}")], 1_000_000)
        print(number, flush=True)
"""


def test_kill_at_any_instant(tmp_path: Path) -> None:
    tests = Path(__file__).resolve().parents[1]
    for count in (1, 2, 17, 40):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(tests)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            said = [int(process.stdout.readline()) for _ in range(count)]
            os.kill(process.pid, signal.SIGKILL)
            said += [int(line) for line in process.stdout if line.endswith("\n")]
        with State.open(tmp_path) as state:
            ticks = [int(row[0]) for row in state._rows("SELECT time FROM ticks ORDER BY time", ())]
            incidents = [int(incident.id) for incident in state.incidents_since(0.0)]
        assert ticks == sorted(incidents)
        assert ticks == list(range(1, len(ticks) + 1))
        assert ticks[-1] >= said[-1]  # what was said to be written is there
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
