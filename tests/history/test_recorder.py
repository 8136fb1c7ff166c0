"""The record and its file: over restarts, over kills, and where the file is not what it should be."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from history.looks import START, TICK, Watcher, job
from servers.process import wait_until

from sentinel.history.archive import FILE_NAME
from sentinel.history.column import Column
from sentinel.history.look import Look
from sentinel.history.record import Record
from sentinel.history.recorder import Recorder
from sentinel.history.strip import Span

SPAN = Span()


def recorder(directory: Path, span: Span = SPAN) -> Recorder:
    return Recorder(Record(span, 1 << 30), directory)


def give(to: Recorder, look: Look) -> None:
    """Hand over a tick and wait until it is recorded."""
    time = look.snapshot.time
    to.take(look)
    wait_until(lambda: to.record.moment is not None and to.record.moment.time == time, "it is recorded")


def same(some: list[Column], others: list[Column]) -> bool:
    return len(some) == len(others) and all(
        (one.time, one.state, one.findings) == (other.time, other.state, other.findings)
        and np.array_equal(one.means.ranks, other.means.ranks)
        and np.array_equal(one.means.lateness_seconds, other.means.lateness_seconds, equal_nan=True)
        and np.array_equal(one.means.duration_seconds, other.means.duration_seconds, equal_nan=True)
        for one, other in zip(some, others, strict=True)
    )


def fill(directory: Path, watcher: Watcher, watched: object, count: int) -> Recorder:
    found = recorder(directory)
    for look in watcher.looks(watched, count):
        give(found, look)
    found.stop()
    assert found.record.dropped.total() == 0
    return found


@pytest.mark.parametrize("count", [25, 30, 31])
def test_a_restart_keeps_everything(tmp_path: Path, count: int) -> None:
    watcher, watched = Watcher(), job()
    before = fill(tmp_path, watcher, watched, count)
    after = fill(tmp_path, watcher, watched, 12)
    whole = recorder(tmp_path / "elsewhere")
    whole.directory.mkdir()
    again, other = Watcher(), job()
    whole = fill(whole.directory, again, other, count + 12)
    for ticks in (True, False):
        found = after.record.columns(watched.comm, ticks)
        assert found[0] == before.record.columns(watched.comm, ticks)[0]
        assert same(found[1], whole.record.columns(watched.comm, ticks)[1])


def test_what_is_too_old_leaves_the_file(tmp_path: Path) -> None:
    span = Span(ticks_seconds=300.0, bins_seconds=1200.0)
    found = recorder(tmp_path, span)
    for look in Watcher().looks(job(), 80):
        give(found, look)
    found.stop()
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        rows = database.execute("SELECT kind, count(*), min(time) FROM columns GROUP BY kind ORDER BY kind").fetchall()
    database.close()
    newest = START + 80 * TICK
    assert [(kind, count) for kind, count, _ in rows] == [(0, 10), (1, 3)]
    assert rows[0][2] > newest - 300.0


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b""])
def test_a_broken_file_is_made_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    watched = job()
    found = fill(tmp_path, Watcher(), watched, 3)
    assert len(found.record.columns(watched.comm, ticks=True)[1]) == 3


def test_a_file_of_another_version_is_made_anew(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / FILE_NAME)
    database.execute("PRAGMA user_version = 99")
    database.close()
    fill(tmp_path, Watcher(), job(), 3)


def test_a_file_that_breaks_while_it_is_used_is_made_anew(tmp_path: Path) -> None:
    watcher, watched = Watcher(), job(64)
    fill(tmp_path, watcher, watched, 30)
    path = tmp_path / FILE_NAME
    data = bytearray(path.read_bytes())
    data[8192:] = os.urandom(len(data) - 8192)
    path.write_bytes(bytes(data))
    found = recorder(tmp_path)
    for look in watcher.looks(watched, 4):
        give(found, look)
    found.stop()
    assert found.record.dropped["error"] >= 1
    again = fill(tmp_path, watcher, watched, 1)
    assert len(again.record.columns(watched.comm, ticks=True)[1]) >= 2


def test_without_a_file_it_shows_what_it_sees_and_counts(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    watched = job()
    found = recorder(tmp_path)
    for look in Watcher().looks(watched, 5):
        give(found, look)
    found.stop()
    assert len(found.record.columns(watched.comm, ticks=True)[1]) == 5
    assert found.record.dropped["error"] == 5


def test_a_look_that_cannot_be_recorded_costs_itself_only(tmp_path: Path) -> None:
    watcher, watched = Watcher(), job()
    found = recorder(tmp_path)
    (look,) = watcher.looks(watched, 1)
    found.take(None.__class__)  # type: ignore[arg-type]
    found.take(look)
    found.stop()
    assert found.record.dropped == {"error": 1}
    assert len(found.record.columns(watched.comm, ticks=True)[1]) == 1


def test_nobody_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(Recorder, "_record", lambda *_: go_on.wait(30.0))
    found = recorder(tmp_path)
    looks = list(Watcher().looks(job(), 1)) * 20
    for look in looks:
        found.take(look)
    assert found.record.dropped["busy"] >= 20 - 9
    go_on.set()
    found.stop()


KILLED = """
import sys, itertools
from pathlib import Path
from history.looks import Watcher, job
from sentinel.history.record import Record
from sentinel.history.recorder import Recorder
from sentinel.history.strip import Span
found = Recorder(Record(Span(), 1 << 30), Path(sys.argv[1]))
watcher, watched = Watcher(), job()
for look in watcher.looks(watched, 100_000):
    found.record.moment = None
    found.take(look)
    while found.record.moment is None:
        pass
    print(look.snapshot.time, flush=True)
"""


def test_a_kill_at_any_instant_leaves_what_was_written(tmp_path: Path) -> None:
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])},
        )
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(14)]
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        seen = recorder(tmp_path)
        seen._open(float(lines[-1]))
        _, ticks = seen.record.columns(job().comm, ticks=True)
        # The last one may have been on its way to the file.
        assert float(lines[-2]) <= ticks[-1].time
        seen._archive.close()
        (tmp_path / FILE_NAME).unlink()
        for suffix in ("-wal", "-shm"):
            (tmp_path / (FILE_NAME + suffix)).unlink(missing_ok=True)
