import os
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nccl_exporter import census, directory
from nccl_exporter.census import Census, Findings
from nccl_exporter.layout import FILE_SUFFIX, FileState, SlotState

SECOND = 1_000_000_000


@pytest.fixture
def counted(source_dir: Path, clock: Any) -> Census:
    return Census([source_dir], clock)


def look(counted: Census) -> Findings:
    with ExitStack() as stack:
        return counted.take(stack)


def scrape(counted: Census) -> None:
    with ExitStack() as stack:
        for source in counted.take(stack).sources:
            counted.read(source)


def test_living_processes_oldest_first(make_file: Callable[..., Any], counted: Census) -> None:
    make_file("1", pid=1, start_monotonic_ns=30)
    make_file("2", pid=2, start_monotonic_ns=10)
    make_file("3", pid=3, start_monotonic_ns=20)
    findings = look(counted)
    assert [source.process.pid for source in findings.sources] == [2, 3, 1]
    assert findings.states == {"live": 3}


def test_other_files_are_not_looked_at(source_dir: Path, counted: Census) -> None:
    (source_dir / "notes.txt").write_text("hello")
    (source_dir / f"x{FILE_SUFFIX}.tmp").write_text("hello")
    assert look(counted).states == {}


def test_states_of_files_without_a_living_process(
    make_file: Callable[..., Any], counted: Census, holder: Any, source_dir: Path
) -> None:
    make_file("dead", live=False)
    make_file("finished", live=False).header["state"] = FileState.FINISHED
    make_file("starting").header["state"] = FileState.STARTING
    (source_dir / f"empty{FILE_SUFFIX}").touch()
    findings = look(counted)
    assert findings.states == {"dead": 2, "finished": 1, "starting": 1}
    assert findings.sources == []


def test_killed_process_is_dead(make_file: Callable[..., Any], counted: Census, holder: Any) -> None:
    make_file()
    assert look(counted).states == {"live": 1}
    holder.kill()
    assert look(counted).states == {"dead": 1}


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))


def _link(path: Path) -> None:
    target = path.with_name("target")
    target.write_bytes(b"secret")
    path.symlink_to(target)


def _garbage(path: Path) -> None:
    path.write_bytes(os.urandom(1000))


@pytest.mark.parametrize(
    ("reason", "make"),
    [("type", Path.mkdir), ("type", _fifo), ("type", _socket), ("type", _link), ("size", _garbage)],
    ids=["directory", "fifo", "socket", "link", "garbage"],
)
def test_bad_file_is_rejected_once_and_costs_nobody_else(
    make_file: Callable[..., Any],
    counted: Census,
    source_dir: Path,
    reason: str,
    make: Callable[[Path], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    make_file()
    make(source_dir / f"bad{FILE_SUFFIX}")
    for _ in range(3):
        assert look(counted).states == {"live": 1, "rejected": 1}
    assert counted.sources_rejected == {reason: 1}
    (said,) = caplog.messages
    assert said.startswith(f"source rejected: '{source_dir}/bad{FILE_SUFFIX}': ")


def test_file_that_may_not_be_read(
    make_file: Callable[..., Any], counted: Census, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root every file may be read, so the system's answer is put in its place."""
    make_file()
    real = os.open

    def denied(path: Any, flags: int, *arguments: Any, **options: Any) -> int:
        if str(path).endswith(FILE_SUFFIX):
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *arguments, **options)

    monkeypatch.setattr(os, "open", denied)
    assert look(counted).states == {"rejected": 1}
    assert counted.sources_rejected == {"permission": 1}


def test_file_that_vanishes_after_it_was_listed(
    make_file: Callable[..., Any], counted: Census, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_file()
    listed = directory.file_names
    monkeypatch.setattr(directory, "file_names", lambda number: [f"gone{FILE_SUFFIX}", *listed(number)])
    assert look(counted).states == {"live": 1}
    assert counted.sources_rejected == {}


def test_file_that_is_cut_while_it_is_read(make_file: Callable[..., Any], counted: Census) -> None:
    file = make_file()
    file.communicator()
    with ExitStack() as stack:
        findings = counted.take(stack)
        os.truncate(file.path, 4096)
        assert [list(counted.read(source)) for source in findings.sources] == [[]]
    assert counted.sources_rejected == {"size": 1}


def test_names_cannot_forge_a_line_of_the_log(
    counted: Census, source_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (source_dir / f"a\n2026 INFO all is well{FILE_SUFFIX}").write_bytes(b"x")
    look(counted)
    assert "\n" not in caplog.text.rstrip("\n")


def test_file_reached_by_two_paths_is_one_source(make_file: Callable[..., Any], source_dir: Path, clock: Any) -> None:
    make_file()
    link = source_dir.with_name("link")
    link.symlink_to(source_dir)
    assert look(Census([source_dir, link, source_dir], clock)).states == {"live": 1}


def test_directory_that_appears_later(
    tmp_path: Path, clock: Any, make_file: Callable[..., Any], source_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make_file()
    later = tmp_path / "later"
    counted = Census([later], clock)
    for _ in range(2):
        findings = look(counted)
        assert (findings.states, findings.unreadable) == ({}, 0)
    assert caplog.messages == [f"directory {later} does not exist yet: no job has started, or jobs write elsewhere"]
    source_dir.rename(later)
    assert look(counted).states == {"live": 1}
    assert caplog.messages[1:] == [f"directory {later} is there now"]


def test_directory_that_cannot_be_listed(tmp_path: Path, clock: Any, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "file"
    path.touch()
    counted = Census([path], clock)
    for _ in range(2):
        assert look(counted).unreadable == 1
    assert caplog.messages == [f"directory {path} cannot be listed: Not a directory"]


def test_sources_past_the_limit_are_counted_and_known_ones_stay(
    make_file: Callable[..., Any], counted: Census, source_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(census, "SOURCES", 2)
    make_file("z")
    look(counted)
    for stem in ("a", "b", "c"):
        make_file(stem)
    findings = look(counted)
    assert findings.states == {"live": 2, "capped": 2}
    assert {source.place[1] for source in findings.sources} == {f"z{FILE_SUFFIX}", f"a{FILE_SUFFIX}"}


def test_flood_of_useless_files_does_not_hide_a_living_process(
    make_file: Callable[..., Any], counted: Census, source_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(census, "SOURCES", 2)
    for number in range(3):
        (source_dir / f"0{number}{FILE_SUFFIX}").write_bytes(b"flood")
    make_file("9")
    assert look(counted).states == {"rejected": 2, "capped": 2}
    assert look(counted).states == {"live": 1, "rejected": 1, "capped": 2}


def test_dead_file_is_removed_after_five_minutes(
    make_file: Callable[..., Any], counted: Census, source_dir: Path, clock: Any
) -> None:
    dead, live = make_file("dead", live=False), make_file("live")
    garbage = source_dir / f"garbage{FILE_SUFFIX}"
    garbage.write_bytes(b"not ours")
    look(counted)
    clock.ns += 300 * SECOND
    look(counted)
    assert dead.path.exists()
    clock.ns += 1
    look(counted)
    assert not dead.path.exists()
    assert live.path.exists()
    assert garbage.exists()


def test_file_that_came_alive_again_is_not_removed(
    make_file: Callable[..., Any], counted: Census, holder: Any, clock: Any
) -> None:
    file = make_file(live=False)
    look(counted)
    holder.lock(file.path)
    look(counted)
    holder.unlock(file.path)
    clock.ns += 400 * SECOND
    look(counted)
    assert file.path.exists()


def test_dead_file_that_may_not_be_removed(
    make_file: Callable[..., Any], counted: Census, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = make_file(live=False)

    def denied(*arguments: Any, **options: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "unlink", denied)
    for _ in range(2):
        assert look(counted).states == {"dead": 1}
        clock.ns += 400 * SECOND
    assert file.path.exists()


def test_dropped_events_stay_counted_when_a_process_ends(
    make_file: Callable[..., Any], counted: Census, holder: Any
) -> None:
    one, other = make_file("1", pid=1), make_file("2", pid=2)
    one.header["dropped"][:] = [1, 2, 3, 4, 5, 6]
    other.header["dropped"][:] = [10, 0, 0, 0, 0, 0]
    scrape(counted)
    assert counted.dropped == (11, 2, 3, 4, 5, 6)
    one.header["dropped"][0] = 6
    holder.unlock(one.path)
    scrape(counted)
    assert counted.dropped == (16, 2, 3, 4, 5, 6)
    one.path.unlink()
    scrape(counted)
    assert counted.dropped == (16, 2, 3, 4, 5, 6)


def test_what_the_rows_dropped_is_counted_until_the_end_and_beyond(
    make_file: Callable[..., Any], counted: Census, holder: Any, clock: Any
) -> None:
    file = make_file()
    row = file.communicator()
    operation = file.operation(row, dropped_cell=1, dropped_contention=2)
    scrape(counted)
    assert counted.dropped == (0, 0, 0, 1, 0, 2)
    file.operation(row, dropped_cell=5, dropped_contention=2)  # between the last scrape and the end
    holder.kill()
    for _ in range(2):
        scrape(counted)
        assert counted.dropped == (0, 0, 0, 5, 0, 2)
    operation["left_out"] = 99  # nobody lives who could have written that
    scrape(counted)
    assert counted.dropped == (0, 0, 0, 5, 0, 2)
    clock.ns += 301 * SECOND
    scrape(counted)
    assert not file.path.exists()
    scrape(counted)
    assert counted.dropped == (0, 0, 0, 5, 0, 2)


def test_exporter_that_starts_later_counts_what_the_dead_left_behind(
    make_file: Callable[..., Any], counted: Census
) -> None:
    file = make_file(live=False)
    file.header["dropped"][0] = 7
    file.operation(file.communicator(), dropped_name=3)
    scrape(counted)
    assert counted.dropped == (7, 0, 0, 0, 3, 0)


def test_what_a_slot_dropped_is_counted_once_when_it_is_used_again(
    make_file: Callable[..., Any], counted: Census
) -> None:
    file = make_file()
    row = file.communicator()
    file.operation(row, dropped_name=3)
    scrape(counted)
    row["state"] = SlotState.CLAIMED  # its successor moves the count to the header
    scrape(counted)
    assert counted.dropped[4] == 3
    file.header["dropped"][4] = 3
    scrape(counted)
    row["operations"] = np.zeros_like(row["operations"])
    file.operation(file.communicator(comm=0xDEF), dropped_name=1)
    scrape(counted)
    assert counted.dropped[4] == 4


def test_default_directories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NCCL_SENTINEL_DIR", raising=False)
    assert directory.default_directories() == (
        Path("/run/nccl-sentinel"),
        Path("/dev/shm/nccl-sentinel"),  # noqa: S108
    )
    monkeypatch.setenv("NCCL_SENTINEL_DIR", "/somewhere")
    assert directory.default_directories() == (Path("/somewhere"),)
