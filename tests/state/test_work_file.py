"""Finished work outlives whoever did it; what cannot be trusted is not used."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from sentinel.errors import StateError
from sentinel.state.work_file import Part, WorkFile

PARTS = (Part(b"a", b"head", b"0123456789"), Part(b"b", b"", b"x" * 100_000))


def filled(path: Path, key: bytes = b"key") -> None:
    with WorkFile(path, key) as work:
        work.add(b"first", b"one", PARTS)
        work.add(b"second", b"two", PARTS[:1])


def test_what_is_finished_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "work"
    filled(path)
    with WorkFile(path, b"key") as work:
        assert work.fault == ""
        pieces = work.pieces()
        assert set(pieces) == {b"first", b"second"}
        assert work.head(pieces[b"second"]) == b"two"
        assert sorted(work.names()) == [b"a", b"b"]
        found = work.parts(b"a")
        assert [(piece, head) for piece, _, head in found] == [
            (pieces[b"first"], b"head"),
            (pieces[b"second"], b"head"),
        ]
        assert work.data(found[0][1], 3, 4) == b"3456"
        work.keep({b"second"})
        assert set(work.pieces()) == {b"second"}
        assert work.names() == [b"a"]
        work.remove()
    assert list(path.parent.iterdir()) == []


def test_nothing_is_made_before_there_is_something(tmp_path: Path) -> None:
    with WorkFile(tmp_path / "new" / "work", b"key") as work:
        assert (work.pieces(), work.names(), work.parts(b"a")) == ({}, [], [])
        work.keep(set())
        work.remove()
    assert list(tmp_path.iterdir()) == []


def test_of_another_key(tmp_path: Path) -> None:
    path = tmp_path / "work"
    filled(path, b"another")
    with WorkFile(path, b"key") as work:
        assert "other settings" in work.fault
        assert work.pieces() == {}
        work.add(b"first", b"one", PARTS)
    with WorkFile(path, b"key") as work:
        assert (work.fault, len(work.pieces())) == ("", 1)


def flip(path: Path, what: bytes) -> None:
    data = bytearray(path.read_bytes())
    data[data.index(what)] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    "broken",
    [
        lambda path: path.write_bytes(b"something else" * 1000),
        lambda path: path.write_bytes(path.read_bytes()[:-70_000]),
        lambda path: flip(path, b"x" * 100),
        lambda path: flip(path, b"two"),
        lambda path: sqlite3.connect(path).execute("DROP TABLE part").connection.close(),
    ],
)
def test_broken(tmp_path: Path, broken: object) -> None:
    path = tmp_path / "work"
    filled(path)
    broken(path)  # type: ignore[operator]
    with WorkFile(path, b"key") as work:
        assert "broken" in work.fault
        assert work.pieces() == {}
        work.add(b"first", b"one", PARTS)


def test_one_process_has_it_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "work"
    filled(path)
    with WorkFile(path, b"key"), pytest.raises(StateError, match="locked") as caught:
        WorkFile(path, b"key")
    assert "runs already" in caught.value.hint
    assert WorkFile(path, b"key").fault == ""


def test_a_kill_leaves_whole_pieces(tmp_path: Path) -> None:
    program = f"""
import os, signal
from pathlib import Path
from sentinel.state.work_file import Part, WorkFile
work = WorkFile(Path({str(tmp_path / "work")!r}), b"key")
work.add(b"first", b"one", [Part(b"a", b"", b"1" * 1_000_000)])
def parts():
    yield Part(b"a", b"", b"2" * 8_000_000)
    os.kill(os.getpid(), signal.SIGKILL)
work.add(b"second", b"two", parts())
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    with WorkFile(tmp_path / "work", b"key") as work:
        assert (work.fault, set(work.pieces())) == ("", {b"first"})


def test_a_kill_as_it_is_made_leaves_nothing_to_speak_of(tmp_path: Path) -> None:
    path = tmp_path / "work"
    path.touch()
    with WorkFile(path, b"key") as work:
        assert (work.fault, work.pieces()) == ("", {})
        work.add(b"first", b"one", PARTS)
    with WorkFile(path, b"key") as work:
        assert (work.fault, set(work.pieces())) == ("", {b"first"})


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    with pytest.raises(StateError, match="cannot use the work file"):
        WorkFile(tmp_path / "work", b"key")
    with pytest.raises(StateError, match="its parent does not exist"):
        WorkFile(tmp_path / "no" / "directory" / "work", b"key").add(b"first", b"", [])


def test_what_is_somebody_elses_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    for data in (b"my notes", b"my notes" * 1000):
        path.write_bytes(data)
        with pytest.raises(StateError, match="no work file"):
            WorkFile(path, b"key", is_own=False)
        assert path.read_bytes() == data
    path.unlink()
    filled(path, b"another")
    assert "other settings" in WorkFile(path, b"key", is_own=False).fault
