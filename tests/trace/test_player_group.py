"""All ranks together, steered from Python."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nccl_exporter.model import Communicator
from nccl_exporter.reader import Reader

from sentinel.errors import TraceError
from sentinel.native import plugin_path
from sentinel.trace import PlayerGroup, StepRange, Trace

SEGMENTS = {"healthy": StepRange(0, 2), "fault": StepRange(2, 4)}
Make = Callable[..., PlayerGroup]


@pytest.fixture
def group(small: Trace, tmp_path: Path, recorder: Path, player: Path) -> Iterator[Make]:
    made: list[PlayerGroup] = []
    (tmp_path / "work").mkdir()
    os.mkfifo(tmp_path / "unread")

    def make(**changes: object) -> PlayerGroup:
        # The mask 0 keeps the record empty but for init and finalize; both ranks write to one file.
        places = {"plugin": recorder, "player": player, "source_dir": tmp_path, "work_dir": tmp_path / "work"}
        environment = {"RECORDER_FILE": "/dev/null", "RECORDER_MASK": "0"}
        made.append(PlayerGroup(small, SEGMENTS, **{**places, "environment": environment, **changes}))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for each in made:
        each.stop()


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_plays_switches_and_stops(group: Make) -> None:
    with group() as players:
        begin = players.start("healthy")
        pids = players.pids
        assert len(pids) == 2
        assert begin > time.time()
        switched = players.switch("fault")
        players.poll()
        assert begin < switched < time.time() + 2
    assert players.pids == ()
    assert not any(map(alive, pids))
    players.stop()


def test_segments_begin_at_iteration_boundaries(group: Make) -> None:
    players = group(pace=0.5)
    begin = players.start("healthy")
    switched = players.switch("fault")
    # 20 ms of steps, played at half the pace
    iterations = (switched - begin) / 0.04
    assert iterations == pytest.approx(round(iterations), abs=0.05)
    assert round(iterations) >= 1


def test_ranks_know_who_they_are(group: Make, tmp_path: Path) -> None:
    players = group()
    players.start("healthy")
    for rank, pid in enumerate(players.pids):
        told = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        # Two ranks on two hosts.
        for word in (
            f"RANK={rank}",
            "LOCAL_RANK=0",
            "WORLD_SIZE=2",
            "LOCAL_WORLD_SIZE=1",
            f"NCCL_SENTINEL_DIR={tmp_path}",
        ):
            assert word.encode() in told


def test_tells_that_a_player_died(group: Make) -> None:
    players = group()
    players.start("healthy")
    pid = players.pids[1]
    os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    message = ""
    while not message:
        assert time.monotonic() < deadline
        try:
            players.poll()
        except TraceError as error:
            message = str(error)
    assert f"cannot play rank 1 (process {pid}, SIGKILL): plugin INFO" in message
    assert "player01.log" in message
    with pytest.raises(TraceError, match="cannot play rank 1"):
        players.switch("fault")
    players.stop()


def test_tells_why_players_do_not_start(group: Make, tmp_path: Path) -> None:
    with pytest.raises(
        TraceError, match=r"exit status 2\): nccl-trace-player: cannot load a profiler plugin \(/no\.so\)"
    ):
        group(plugin=Path("/no.so")).start("healthy")
    with pytest.raises(TraceError, match=r"cannot start the player \(/no-player\): No such file"):
        group(player=Path("/no-player")).start("healthy")
    refusing = {"RECORDER_FILE": "/dev/null", "RECORDER_RESULT": "5"}
    with pytest.raises(TraceError, match=r"exit status 1\): .*init returned 5"):
        group(environment=refusing).start("healthy")


def test_refuses_what_cannot_be(group: Make, small: Trace, tmp_path: Path) -> None:
    players = group()
    with pytest.raises(TraceError, match=r"no player runs"):
        players.switch("fault")
    with pytest.raises(TraceError, match=r"segment other.*Allowed is healthy, fault"):
        players.start("other")
    with pytest.raises(TraceError, match=r"segment late.*4 steps"):
        PlayerGroup(
            small,
            {"late": StepRange(3, 5)},
            plugin=Path("/no.so"),
            player=Path("/no-player"),
            source_dir=tmp_path,
            work_dir=tmp_path,
        )
    players.start("healthy")
    with pytest.raises(TraceError, match="they are running"):
        players.start("healthy")


def counted(path: Path) -> list[Communicator]:
    with path.open("rb") as file:
        return list(Reader(time.monotonic_ns).communicators(file.fileno()))


def test_the_real_plugin_counts_what_is_played(group: Make, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    players = group(plugin=plugin_path(), source_dir=source)
    players.start("healthy")
    deadline = time.monotonic() + 20
    while True:
        players.poll()
        found = {each.rank: each for path in source.iterdir() for each in counted(path)}
        rows = [row for each in found.values() for row in each.operations if row.started]
        if len(rows) == 4 and min(row.operations for row in rows) > 3:
            break
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    for rank, communicator in found.items():
        assert (communicator.id, communicator.nranks, communicator.nnodes) == (0x0123456789ABCDEF, 2, 2)
        for operation in communicator.operations:
            assert operation.duration_ns == 50_000 * operation.operations, rank
            assert operation.bytes == 256 * operation.operations
        ((network_operations, sent_bytes, *steps),) = communicator.links.values
        assert sent_bytes == 256 * steps[2]  # those that have left the wire
        assert network_operations > 3
    players.stop()
    logs = [(tmp_path / "work" / f"player{rank:02d}.log").read_text() for rank in range(2)]
    assert not any("WARN" in log for log in logs), logs
