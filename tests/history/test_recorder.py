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

from sentinel.history.archive import Archive
from sentinel.history.archive_file import FILE_NAME
from sentinel.history.column import Column, RankMeans, median_column
from sentinel.history.look import Look
from sentinel.history.past import Past
from sentinel.history.reader import ArchiveReader
from sentinel.history.record import Added, Record
from sentinel.history.recorder import Recorder
from sentinel.history.strip import Span
from sentinel.state.store import State

SPAN = Span()


def recorder(directory: Path, span: Span = SPAN) -> Recorder:
    return Recorder(Record(span, 1 << 30), directory)


def give(to: Recorder, look: Look) -> None:
    """Hand over a tick and wait until it is recorded."""
    to.take(look)
    to.settle(10.0)
    assert to.record.moment.time == look.snapshot.time


def past(of: Recorder) -> Past:
    return Past(of.record, of.directory)


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
        found, fault = past(after).columns(watched.comm, ticks)
        assert fault == ""
        assert found.roster == before.record.columns(watched.comm, ticks)[0]
        assert same(found.columns, past(whole).columns(watched.comm, ticks)[0].columns)


def test_bins_older_than_the_ticks_come_from_the_file_and_are_their_medians(tmp_path: Path) -> None:
    watched, short = job(), Span(ticks_seconds=300.0)
    found = recorder(tmp_path, short)
    every: list[Column] = []
    for look in Watcher().looks(watched, 65):
        give(found, look)
        every.append(found.record.columns(watched.comm, ticks=True)[1][-1])
    found.stop()
    shown = past(found).columns(watched.comm, ticks=False)[0].columns
    ends = [START + 300.0 * number for number in range(1, 7)]
    assert same(
        shown,
        [
            *(median_column(end, [each for each in every if end - 300.0 < each.time <= end]) for end in ends),
            median_column(every[-1].time, every[-5:]),
        ],
    )


def test_a_communicator_that_is_gone_is_read_from_the_file(tmp_path: Path) -> None:
    watcher, first = Watcher(), job()
    found = recorder(tmp_path, Span(ticks_seconds=300.0, bins_seconds=1800.0))
    for look in watcher.looks(first, 12):
        give(found, look)
    roster = found.record.columns(first.comm, ticks=True)[0]
    second = job(comm="00000000000000bb", vocabulary=first.vocabulary)
    second.time = first.time
    for look in watcher.looks(second, 30):
        give(found, look)
    assert [each.comm for each in found.record.communicators()] == [second.comm]
    assert past(found).knows(first.comm) == (True, "")
    bins = past(found).columns(first.comm, ticks=False)[0]
    assert bins.roster == roster
    assert [each.time for each in bins.columns] == [START + 300.0, START + 600.0]
    assert past(found).columns(first.comm, ticks=True)[0].columns == []
    for look in watcher.looks(second, 45):
        give(found, look)
    found.stop()
    assert past(found).knows(first.comm) == (False, "")
    assert past(found).columns(first.comm, ticks=False) == (None, "")


def test_a_file_that_is_full_costs_what_it_could_not_take_for_as_long_as_it_is(tmp_path: Path) -> None:
    watcher, watched = Watcher(), job(256)
    found = recorder(tmp_path)
    for look in watcher.looks(watched, 10):
        give(found, look)
    pages = found._archive._connection.execute("PRAGMA page_count").fetchone()[0]
    found._archive._connection.execute(f"PRAGMA max_page_count = {pages}")
    for look in watcher.looks(watched, 1):  # the one that ends a bin
        give(found, look)
    assert found.record.fault
    shown, fault = past(found).columns(watched.comm, ticks=False)
    assert "full" in fault
    assert [each.time for each in shown.columns] == [START + 300.0, START + 330.0]
    for look in watcher.looks(watched, 1):
        give(found, look)
    found.stop()
    assert found.record.dropped == {"error": 1}
    assert past(found).columns(watched.comm, ticks=False)[1] == ""
    assert [each.time for each in ArchiveReader(tmp_path).bins(watched.comm, 0.0)] == [START + 300.0]


def test_past_its_size_the_oldest_leaves_the_file_and_is_counted(tmp_path: Path) -> None:
    watched, most = job(1024), 1 << 18
    found = Recorder(Record(SPAN, most), tmp_path)
    for look in Watcher().looks(watched, 40):
        give(found, look)
    found.stop()
    assert found.record.dropped["full"] > 0
    assert found.record.dropped["error"] == 0
    assert (tmp_path / FILE_NAME).stat().st_size <= 1.5 * most  # what one tick adds goes after it came
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        ((newest,),) = database.execute("SELECT max(time) FROM columns").fetchall()
    database.close()
    assert newest == START + 40 * TICK


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


@pytest.mark.parametrize("statement", ["PRAGMA user_version = 99", "CREATE TABLE columns (theirs)"])
def test_a_file_of_another_version_or_program_is_made_anew(tmp_path: Path, statement: str) -> None:
    database = sqlite3.connect(tmp_path / FILE_NAME)
    database.execute(statement)
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


@pytest.mark.parametrize("content", [b"not a database at all" * 1000, b""])
def test_a_file_that_is_written_over_is_made_anew_once_somebody_has_looked(tmp_path: Path, content: bytes) -> None:
    watcher, watched = Watcher(), job()
    found = recorder(tmp_path)
    for look in watcher.looks(watched, 25):
        give(found, look)
    found._archive._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # else its pages are read from the log
    (tmp_path / FILE_NAME).write_bytes(content)
    shown, fault = past(found).columns(watched.comm, ticks=False)
    assert len(shown.columns) == 3
    assert "history of the status page" in fault
    for look in watcher.looks(watched, 2):
        give(found, look)
    found.stop()
    assert [each.time for each in ArchiveReader(tmp_path).bins(watched.comm, 0.0)] == [START + 300.0, START + 600.0]
    assert past(found).columns(watched.comm, ticks=False)[1] == ""


def test_a_link_to_what_is_no_history_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    elsewhere = tmp_path / "precious"
    elsewhere.write_bytes(b"not a database at all" * 1000)
    (tmp_path / FILE_NAME).symlink_to(elsewhere)
    fill(tmp_path, Watcher(), job(), 3)
    assert elsewhere.read_bytes() == b"not a database at all" * 1000
    assert not (tmp_path / FILE_NAME).is_symlink()


def test_a_link_to_another_disk_is_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    watched = job()
    fill(other, Watcher(), watched, 1)
    (tmp_path / FILE_NAME).symlink_to(other / FILE_NAME)
    found = fill(tmp_path, Watcher(), watched, 12)
    assert (tmp_path / FILE_NAME).is_symlink()
    assert [each.time for each in ArchiveReader(other).bins(watched.comm, 0.0)] == [START + 300.0]
    assert past(found).columns(watched.comm, ticks=False)[1] == ""


def test_it_may_be_read_by_whom_the_state_may(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        State.open(tmp_path).close()
        found = recorder(tmp_path)
        for look in Watcher().looks(job(), 2):
            give(found, look)
        names = [FILE_NAME + suffix for suffix in ("", "-wal", "-shm")]
        modes = {(tmp_path / name).stat().st_mode & 0o777 for name in ("sentinel.db", *names)}
        found.stop()
    finally:
        os.umask(before)
    assert modes == {0o640}


def test_a_clock_that_went_ahead_does_not_keep_what_comes_now_from_its_place(tmp_path: Path) -> None:
    ahead = job()
    ahead.time += 86_400.0
    fill(tmp_path, Watcher(), ahead, 25)
    watched = job()
    found = fill(tmp_path, Watcher(), watched, 12)
    assert len(found.record.columns(watched.comm, ticks=True)[1]) == 12
    shown, fault = past(found).columns(watched.comm, ticks=False)
    assert ([each.time for each in shown.columns], fault) == ([START + 300.0, START + 12 * TICK], "")


def test_a_bin_that_ends_while_somebody_looks_is_shown_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watcher, watched = Watcher(), job()
    found = recorder(tmp_path)
    for look in watcher.looks(watched, 9):
        give(found, look)
    before = (found.record.columns(watched.comm, ticks=False), found.record.said(ticks=False))
    for look in watcher.looks(watched, 2):
        give(found, look)
    found.stop()
    monkeypatch.setattr(found.record, "columns", lambda *_: before[0])
    monkeypatch.setattr(found.record, "said", lambda *_: before[1])
    assert [each.time for each in past(found).columns(watched.comm, ticks=False)[0].columns] == [START + 300.0]
    ((_, said),) = past(found).said(ticks=False, most=9).communicators
    assert [each.time for each in said] == [START + 300.0]


def test_who_reads_and_who_writes_are_not_in_each_others_way(tmp_path: Path) -> None:
    watcher, watched = Watcher(), job(256)
    found = recorder(tmp_path)
    for look in watcher.looks(watched, 1):
        give(found, look)
    over, faults, times = threading.Event(), set(), []

    def read() -> None:
        while not over.is_set():
            shown, fault = past(found).columns(watched.comm, ticks=False)
            faults.add(fault)
            faults.add(past(found).said(ticks=False, most=9).fault)
            times.append([each.time for each in shown.columns])

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for look in watcher.looks(watched, 40):
        give(found, look)
    over.set()
    for reader in readers:
        reader.join()
    found.stop()
    assert faults == {""}
    assert found.record.dropped.total() == 0
    assert all(each == sorted(set(each)) for each in times)
    assert len(times) > 3


def test_its_log_is_bounded(tmp_path: Path) -> None:
    archive, largest = Archive(tmp_path), 0
    means = RankMeans(np.arange(4096, dtype=np.int32), *np.zeros((2, 4096), dtype=np.float32))
    for time in map(float, range(300)):
        archive.write([Added("aa", Column(time, "watching", 0, means), [], None)], [], time, SPAN, 1 << 20)
        largest = max(largest, (tmp_path / f"{FILE_NAME}-wal").stat().st_size)
    archive.close()
    assert 2 << 20 < largest < 6 << 20


def test_a_file_that_is_taken_away_is_made_anew_with_the_last_hour(tmp_path: Path) -> None:
    watcher, watched = Watcher(), job()
    found = recorder(tmp_path)
    for look in watcher.looks(watched, 25):
        give(found, look)
    (tmp_path / FILE_NAME).unlink()
    shown, fault = past(found).columns(watched.comm, ticks=False)
    assert len(shown.columns) == 3
    assert "history of the status page" in fault
    for look in watcher.looks(watched, 1):
        give(found, look)
    found.stop()
    assert [each.time for each in ArchiveReader(tmp_path).bins(watched.comm, 0.0)] == [START + 300.0, START + 600.0]
    assert past(found).columns(watched.comm, ticks=False)[1] == ""


def test_without_a_file_it_shows_what_it_sees_and_counts(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    watched = job()
    found = recorder(tmp_path)
    for look in Watcher().looks(watched, 5):
        give(found, look)
    found.stop()
    shown, fault = past(found).columns(watched.comm, ticks=False)
    assert len(found.record.columns(watched.comm, ticks=True)[1]) == 5
    assert [each.time for each in shown.columns] == [START + 5 * TICK]
    assert "unable to open" in fault
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
from sentinel.history.record import Added, Record
from sentinel.history.recorder import Recorder
from sentinel.history.strip import Span
from sentinel.state.store import State
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
