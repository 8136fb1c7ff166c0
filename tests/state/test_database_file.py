"""A process that writes the state keeps its locks of it, whatever other processes do."""

import subprocess
import sys
from pathlib import Path

from sentinel.state.store import State
from sentinel.state.tick import Outcome, TickRecord

OTHER = """
import sys
from pathlib import Path
from sentinel.state.store import State
with State.open(Path(sys.argv[1])) as state:
    state.add_baseline(built_at=1.0, start=0.0, end=1.0, data=b"x")
"""


def test_another_writer_does_not_take_the_log_away(tmp_path: Path) -> None:
    with State.open(tmp_path) as state:
        for time in range(3):
            state.record(TickRecord(float(time), Outcome.OK, 0.1, 0), [], keep_ticks=100)
        log = (tmp_path / "sentinel.db-wal").stat().st_ino
        subprocess.run([sys.executable, "-c", OTHER, str(tmp_path)], check=True)
        assert (tmp_path / "sentinel.db-wal").stat().st_ino == log
        state.record(TickRecord(7.0, Outcome.OK, 0.1, 0), [], keep_ticks=100)
        with State.open_readonly(tmp_path) as reader:
            last = reader.last_tick()
        assert last is not None
        assert last.time == 7.0
