"""What is killed, or whose workers are, ends as if it had been left alone. Real processes."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from servers.command import Run
from servers.dask_cluster import dask_scheduler, dask_workers
from servers.process import DEADLINE_SECONDS, free_port, wait_until
from simulator.cluster import Cluster
from simulator.faults import LateRank
from simulator.history_api import HistoryServer, RecordedHistory
from simulator.presets import two_level

from sentinel.daemon import dask_measuring
from sentinel.daemon.learning import WORK_FILE_NAME
from sentinel.state.store import State
from sentinel.state.work_file import WorkFile

TICKS, TICK = 300, 60
START = 1_700_000_040.0
HELD_AFTER = 13  # queries: the first stretch is done, the last is not


@pytest.fixture(scope="module")
def history() -> RecordedHistory:
    cluster = Cluster(two_level(16), tick_seconds=float(TICK), start=START)
    cluster.add(LateRank(rank=3, cost_ratio=0.2, begin=7000, end=9000))
    return RecordedHistory(cluster.snapshots(TICKS), TICKS)


@pytest.fixture
def server(history: RecordedHistory) -> Iterator[HistoryServer]:
    with HistoryServer(history) as server:
        yield server


def over_history(server: HistoryServer, state: Path, *more: str) -> list[str]:
    settings = (f"prometheus.url={server.url}", f"schedule.tick={TICK}s", f"state.directory={state}")
    times = ("--from", str(START + TICK), "--to", str(START + TICKS * TICK))
    return [*times, *(word for each in settings for word in ("--set", each)), *more]


def build(server: HistoryServer, state: Path, *more: str) -> list[str]:
    return ["baseline", "build", *over_history(server, state, *more)]


def kept(state: Path) -> bytes:
    with State.open_readonly(state) as opened:
        stored = opened.baseline()
    assert stored is not None
    return stored.data


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process; it is ended by its pid where it has not ended by itself."""
    process = subprocess.Popen(
        [sys.executable, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@dataclass(frozen=True)
class Expected:
    """The bytes of a baseline, and how many queries it took."""

    data: bytes
    asked: int


@pytest.fixture(scope="module")
def expected(history: RecordedHistory, tmp_path_factory: pytest.TempPathFactory) -> Expected:
    """A build that nothing happened to."""
    state = tmp_path_factory.mktemp("whole") / "state"
    with HistoryServer(history) as server:
        subprocess.run([sys.executable, "-m", "sentinel", *build(server, state)], check=True, capture_output=True)
        return Expected(kept(state), server.asked)


def kill_in_the_middle(server: HistoryServer, state: Path) -> None:
    """A build, of which some parts are done."""
    server.hold_after = HELD_AFTER
    with started("-m", "sentinel", *build(server, state)) as process:
        wait_until(lambda: server.asked > HELD_AFTER, "the build is in the middle")
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL


def test_killed_and_gone_on(run: Run, server: HistoryServer, expected: Expected, tmp_path: Path) -> None:
    state = tmp_path / "state"
    kill_in_the_middle(server, state)
    server.released.set()
    assert (state / WORK_FILE_NAME).exists()
    server.asked = 0
    result = run(*build(server, state))
    assert result.status == 0
    assert "Going on with a build that was cut short: " in result.err
    assert 0 < server.asked <= expected.asked - 8  # what was done is not asked again
    assert kept(state) == expected.data
    assert not list(state.glob(f"{WORK_FILE_NAME}*"))


def test_ctrl_c_says_that_what_is_done_is_kept(server: HistoryServer, tmp_path: Path) -> None:
    state = tmp_path / "state"
    server.hold_after = HELD_AFTER
    with started("-m", "sentinel", *build(server, state)) as process:
        wait_until(lambda: server.asked > HELD_AFTER, "the build is in the middle")
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode != 0
    assert text.splitlines()[0] == "Stopped. What is done is kept: the same command goes on from there."
    assert "Traceback" not in text
    assert (state / WORK_FILE_NAME).exists()


@pytest.mark.parametrize("what", ["foreign", "broken"])
def test_a_work_file_that_cannot_be_used_is_said(
    run: Run, server: HistoryServer, expected: Expected, tmp_path: Path, what: str
) -> None:
    state = tmp_path / "state"
    server.hold_after = HELD_AFTER
    more = ("--set", "detection.baseline.min_operations=2") if what == "foreign" else ()
    with started("-m", "sentinel", *build(server, state, *more)):
        wait_until(lambda: server.asked > HELD_AFTER, "the build is in the middle")
    server.released.set()
    work = state / WORK_FILE_NAME
    if what == "broken":
        work.write_bytes(work.read_bytes()[:5000] + b"?" * 200_000)
    result = run(*build(server, state))
    assert result.status == 0
    reason = "it is of other settings or of another version" if what == "foreign" else "it is broken"
    assert f"note: the work of an earlier build is not used: {reason}" in result.err
    assert kept(state) == expected.data


def test_workers_that_die_are_survived(run: Run, server: HistoryServer, expected: Expected, tmp_path: Path) -> None:
    """Half of it is done here, by a process that is killed, and the rest on a cluster that loses a worker."""
    state = tmp_path / "state"
    kill_in_the_middle(server, state)
    server.asked, server.hold_after = 0, 0  # each worker waits for its first answer
    with dask_scheduler(tmp_path) as scheduler, dask_workers(scheduler, tmp_path, 2) as workers:
        arguments = build(server, state, "--dask", scheduler)
        with started("-m", "sentinel", *arguments) as process:
            wait_until(lambda: server.asked >= len(workers), "every worker is at work")
            workers[0].send_signal(signal.SIGKILL)
            assert workers[0].wait() == -signal.SIGKILL
            server.released.set()
            text, _ = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 0, text
    assert "Going on with a build that was cut short: " in text
    assert kept(state) == expected.data
    assert not list(state.glob(f"{WORK_FILE_NAME}*"))


def test_a_worker_without_the_package_says_so(run: Run, server: HistoryServer, tmp_path: Path) -> None:
    with dask_scheduler(tmp_path) as scheduler, dask_workers(scheduler, tmp_path, 1, has_package=False):
        result = run(*build(server, tmp_path / "state", "--dask", scheduler))
    assert result.status == 2
    assert f"a Dask worker cannot measure ({scheduler}): No module named 'sentinel'" in result.err


def test_a_cluster_that_cannot_be_reached_is_3(
    run: Run, server: HistoryServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_measuring, "_CONNECT_SECONDS", 0.2)
    address = f"tcp://127.0.0.1:{free_port()}"
    result = run(*build(server, tmp_path / "state", "--dask", address))
    assert result.status == 3
    assert f"cannot reach the Dask scheduler ({address})" in result.err
    assert run(*build(server, tmp_path / "state", "--dask", "nonsense://here")).status == 2


def test_without_dask_it_is_said_how_to_get_it(
    run: Run, server: HistoryServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = run(*build(server, tmp_path / "state", "--dask", "tcp://127.0.0.1:1"))
    assert result.status == 2
    assert "pip install 'nccl-sentinel[dask]'" in result.err


def test_a_backtest_goes_on_from_its_checkpoint(run: Run, server: HistoryServer, tmp_path: Path) -> None:
    arguments = ["backtest", "--json", *over_history(server, tmp_path / "state")]
    whole = run(*arguments)
    assert whole.status == 1
    assert [incident["ranks"] for incident in json.loads(whole.out)["incidents"]] == [[3]]
    asked, server.asked, server.hold_after = server.asked, 0, 20  # the first stretch is done, the last is not
    checkpoint = tmp_path / "checkpoint"
    arguments += ["--checkpoint", str(checkpoint)]
    with started("-m", "sentinel", *arguments) as process:
        wait_until(lambda: server.asked > 20, "the backtest is in the middle")
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    server.released.set()
    assert checkpoint.exists()
    server.asked = 0
    result = run(*arguments)
    assert "Going on with a backtest that was cut short: " in result.err
    assert (result.status, result.out) == (whole.status, whole.out)
    assert 0 < server.asked < asked  # what was done is not asked again
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_that_cannot_be_used_is_said(run: Run, server: HistoryServer, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    with WorkFile(checkpoint, b"of something else") as work:
        work.add(b"1", b"", ())
    arguments = ["backtest", "--json", *over_history(server, tmp_path / "state"), "--checkpoint", str(checkpoint)]
    result = run(*arguments)
    assert result.status == 1
    assert "note: the checkpoint is not used: it is of other settings or of another version" in result.err
    checkpoint.write_text("my notes")
    checkpoint.chmod(0o600)
    assert run(*arguments).status == 2
    assert checkpoint.read_text() == "my notes"
