import os
import sqlite3
from pathlib import Path

import pytest
from servers.incidents import incident

from sentinel.errors import StateError
from sentinel.state.database import (
    FILE_NAME,
    BrokenStateError,
    open_database,
    open_database_readonly,
    transaction,
)
from sentinel.state.schema import MIGRATIONS, VERSION
from sentinel.state.store import State
from sentinel.state.tick import Outcome, TickRecord

TICK = TickRecord(1.0, Outcome.OK, 0.1, 0)


def test_a_new_database_is_up_to_date_and_crash_safe(tmp_path: Path) -> None:
    connection = open_database(tmp_path / "state")
    assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    connection.close()
    assert (tmp_path / "state").stat().st_mode & 0o007 == 0


def test_opening_again_changes_nothing(tmp_path: Path) -> None:
    open_database(tmp_path).close()
    with State.open(tmp_path) as state:
        state.record(TICK, [], 10)
    with State.open(tmp_path) as state:
        assert state.last_tick() == TICK


@pytest.mark.parametrize("opener", [open_database, open_database_readonly])
def test_a_newer_schema_is_refused(tmp_path: Path, opener: object) -> None:
    connection = open_database(tmp_path)
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    with pytest.raises(StateError, match=f"version {VERSION + 1}, this program knows {VERSION}") as caught:
        opener(tmp_path)
    assert caught.value.where == str(tmp_path / FILE_NAME)
    assert caught.value.hint


def test_an_older_schema_is_not_read_but_brought_up_to_date(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / FILE_NAME).execute("PRAGMA user_version = 0").connection.close()
    with pytest.raises(StateError, match="older than this program"):
        open_database_readonly(tmp_path)
    open_database(tmp_path).close()
    open_database_readonly(tmp_path).close()


def test_incidents_of_an_older_schema_are_kept(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    for statement in MIGRATIONS[0]:
        connection.execute(statement)
    row = ("76f5", "late_rank", "P1", "aa", "dp", "job", "4711", "[3]", "node0", "3", 10.0, 20.0, None, 0.1, "{}", 7)
    connection.execute("INSERT INTO incidents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    with State.open(tmp_path) as state:
        (incident,) = state.open_incidents()
    assert (incident.id, incident.culprit.ranks, incident.started_at) == ("76f5", (3,), 10.0)
    assert (incident.former_tiers, incident.recurrences) == ((), 0)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"not a database at all" * 100)
    for opener in (open_database, open_database_readonly):
        with pytest.raises(StateError, match="the state database is broken") as caught:
            opener(tmp_path)
        assert caught.value.where == str(tmp_path / FILE_NAME)
        assert "Move it away" in caught.value.hint


def test_a_database_with_a_torn_page_is_named(tmp_path: Path) -> None:
    connection = open_database(tmp_path)
    with transaction(connection) as cursor:
        cursor.executemany("INSERT INTO ticks VALUES (?, 'ok', 0, 0, ?)", [(time, "x" * 100) for time in range(2000)])
    connection.close()
    path = tmp_path / FILE_NAME
    data = bytearray(path.read_bytes())
    data[len(data) // 2 :] = os.urandom(len(data) - len(data) // 2)
    path.write_bytes(data)
    with pytest.raises(StateError, match="broken") as caught:
        _forget_all_ticks(tmp_path)
    assert caught.value.where == str(path)


def _forget_all_ticks(directory: Path) -> None:
    with State.open(directory) as state:
        state.record(TickRecord(9999.0, Outcome.OK, 0.1, 0), [], 1)


def test_a_missing_parent_is_named(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="its parent does not exist") as caught:
        open_database(tmp_path / "a" / "b")
    assert str(tmp_path / "a") in caught.value.hint


def test_a_directory_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StateError, match="no state directory"):
        open_database(tmp_path / "file")


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    open_database(tmp_path).close()
    with State.open_readonly(tmp_path) as state, pytest.raises(StateError, match="readonly") as caught:
        state.record(TICK, [], 10)
    assert "may not write" in caught.value.hint


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    connection = open_database(tmp_path)

    def write(second: str) -> None:
        with transaction(connection) as cursor:
            cursor.execute("INSERT INTO ticks VALUES (1, 'ok', 0, 0, '')")
            cursor.execute(second)

    with pytest.raises(sqlite3.OperationalError):
        write("INSERT INTO nowhere VALUES (1)")
    assert connection.execute("SELECT count(*) FROM ticks").fetchone() == (0,)
    connection.close()


def test_what_cannot_be_written_is_read_until_it_can(tmp_path: Path) -> None:
    with State.open(tmp_path) as state:
        state.record(TICK, [], 10)
    log = tmp_path / f"{FILE_NAME}-wal"
    log.mkdir()
    with pytest.raises(StateError, match="unable to open"):
        State.open(tmp_path)
    later = TickRecord(2.0, Outcome.OK, 0.1, 0)
    with State.open_copy(tmp_path) as state:
        assert state.last_tick() == TICK
        with pytest.raises(StateError, match="unable to open"):
            state.record(later, [], 10)
        assert state.last_tick() == TICK
        log.rmdir()
        state.record(later, [], 10)
    with State.open_readonly(tmp_path) as state:
        assert state.last_tick() == later


@pytest.mark.parametrize("harm", ["deleted", "replaced", "overwritten"])
def test_a_database_that_is_gone_is_noticed_and_renewed(tmp_path: Path, harm: str) -> None:
    path = tmp_path / FILE_NAME
    with State.open(tmp_path) as state:
        state.record(TICK, [], 10)
        if harm == "overwritten":
            path.write_bytes(b"not a database at all" * 1000)
        else:
            path.unlink()
        if harm == "replaced":
            path.write_bytes(b"")
        with pytest.raises(BrokenStateError):
            state.record(TICK, [], 10)
        moved_to = state.renew()
        state.record(TICK, [], 10)
    assert moved_to.exists() == (harm != "deleted")
    with State.open_readonly(tmp_path) as state:
        assert state.last_tick() == TICK


def test_a_renewal_that_fails_is_tried_again(tmp_path: Path) -> None:
    with State.open(tmp_path) as state:
        (tmp_path / FILE_NAME).unlink()
        (tmp_path / f"{FILE_NAME}.broken").mkdir()
        (tmp_path / FILE_NAME).write_bytes(b"another")
        with pytest.raises(StateError, match="cannot move the state away"):
            state.renew()
        with pytest.raises(BrokenStateError):
            state.record(TICK, [], 10)
        (tmp_path / f"{FILE_NAME}.broken").rmdir()
        state.renew()
        state.record(TICK, [], 10)


def test_a_row_that_no_program_of_ours_wrote_is_named(tmp_path: Path) -> None:
    with State.open(tmp_path) as state:
        state.record(TICK, [incident()], 10)
        state._connection.execute("UPDATE incidents SET evidence = '{'")
        with pytest.raises(BrokenStateError, match="cannot be understood"):
            state.open_incidents()
