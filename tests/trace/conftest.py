"""Traces made by hand, the recorded ones, and the native parts that play and write down."""

import fcntl
import lzma
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from player.run import Scripts

from sentinel.native import player_path
from sentinel.trace import Trace

ROOT = Path(__file__).parents[2]
Row = dict[str, Any]
MS = 1_000_000


@pytest.fixture(scope="session")
def traces() -> Path:
    """The recorded traces, beside the project."""
    return ROOT.parent / "shared" / "traces"


@pytest.fixture(scope="session")
def native_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the player's native test parts, built once for all workers."""
    shared = tmp_path_factory.getbasetemp()
    if shared.name.startswith("popen-"):
        shared = shared.parent
    build = shared / "player-tests"
    cmake = str(Path(sys.executable).parent / "cmake")
    parts = ("nccl-profiler-recorder", "nccl-no-profiler", "nccl-player-script-layout")
    with (shared / "player-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (build / "done").exists():
            configure = [cmake, "-S", str(ROOT), "-B", str(build), "-DNCCL_SENTINEL_BUILD_TESTS=ON"]
            subprocess.run(configure, check=True, capture_output=True)
            subprocess.run([cmake, "--build", str(build), "--target", *parts], check=True, capture_output=True)
            (build / "done").touch()
    return build / "plugin" / "player" / "tests"


@pytest.fixture(scope="session")
def recorder(native_tests: Path) -> Path:
    """The plugin that writes down what it is told."""
    return native_tests / "libnccl-profiler-recorder.so"


@pytest.fixture(scope="session")
def player() -> Path:
    return player_path()


@pytest.fixture
def write_trace(tmp_path: Path) -> Callable[[Sequence[Sequence[Row]]], Path]:
    """Write each rank's rows as a trace."""

    def write(ranks: Sequence[Sequence[Row]]) -> Path:
        folder = tmp_path / "trace"
        folder.mkdir(exist_ok=True)
        for rank, rows in enumerate(ranks):
            text = b"".join(orjson.dumps(row) + b"\n" for row in rows)
            (folder / f"rank{rank:02d}.jsonl.xz").write_bytes(lzma.compress(text, preset=0))
        return folder

    return write


def small_rank(rank: int = 0, steps: int = 4, step_ns: int = 10 * MS, delay_ns: int = 0) -> list[Row]:
    """One of two ranks: an AllGather and an AllReduce each step, with kernels and proxies, then one last AllReduce.

    `delay_ns` lets the rank come late to each step.
    """
    rows: list[Row] = [
        {
            "t": MS,
            "tid": 10,
            "k": "init",
            "comm": 0,
            "comm_id": "0123456789abcdef",
            "rank": rank,
            "nranks": 2,
            "nnodes": 2,
        }
    ]
    handle = 0
    sequences = {"AllGather": 0, "AllReduce": 0}
    plan = [(100 * MS + step * step_ns, func, at) for step in range(steps) for at, func in enumerate(sequences)]
    plan.append((100 * MS + steps * step_ns, "AllReduce", 0))
    for begin, func, at in plan:
        rows += _operation(rank, begin + delay_ns + at * step_ns // 3, func, sequences[func], handle)
        sequences[func] += 1
        handle += 7
    rows.sort(key=lambda row: row["t"])
    rows.append({"t": rows[-1]["t"] + MS, "tid": 10, "k": "finalize", "comm": 0, "rank": rank})
    return rows


def _operation(rank: int, t: int, func: str, seq: int, handle: int) -> Iterator[Row]:
    api, call, group, coll, kernel, proxy, step = range(handle + 1, handle + 8)
    started = {"comm": 0, "rank": rank}
    moment = iter(range(t, t + 1000))

    def row(tid: int, k: str, kind: str, number: int, **fields: Any) -> Row:
        return {"t": next(moment), "tid": tid, "k": k, "type": kind, "id": number, **fields}

    yield row(10, "start", "GroupApi", api, **started, graph_captured=False, group_depth=1)
    yield row(10, "start", "CollApi", call, **started, parent=api, func=func, count=64, graph_captured=False)
    yield row(10, "stop", "CollApi", call)
    yield row(10, "start", "Group", group, **started)
    coll_fields = {
        "count": 64,
        "dtype": "ncclFloat32",
        "root": 0,
        "nchannels": 1,
        "nwarps": 8,
        "algo": "RING",
        "proto": "LL",
    }
    yield row(10, "start", "Coll", coll, **started, parent=call, seq=seq, func=func, **coll_fields)
    yield row(10, "stop", "Coll", coll)
    yield row(10, "stop", "Group", group)
    yield row(10, "stop", "GroupApi", api)
    timer = 1_700_000_000_000_000_000 + t
    yield row(20, "start", "KernelCh", kernel, **started, parent=coll, channel=0, ptimer=timer)
    proxy_fields = {"pid_is_self": True, "channel": 0, "peer": 1 - rank, "nsteps": 1, "chunk": 256, "is_send": 1}
    yield row(20, "start", "ProxyOp", proxy, **started, parent=coll, **proxy_fields)
    yield row(20, "state", "ProxyOp", proxy, state=19)
    yield row(20, "start", "ProxyStep", step, **started, parent=proxy, step=0)
    yield row(20, "state", "ProxyStep", step, state=8, trans_size=0)
    yield row(20, "state", "ProxyStep", step, state=20, trans_size=0)
    yield row(20, "state", "ProxyStep", step, state=9, trans_size=256)
    yield row(20, "stop", "ProxyStep", step)
    yield row(20, "stop", "ProxyOp", proxy)
    yield row(20, "state", "KernelCh", kernel, state=22, ptimer=timer + 50_000)
    yield row(20, "stop", "KernelCh", kernel)


@pytest.fixture
def small_job() -> Callable[..., list[Row]]:
    return small_rank


@pytest.fixture
def scripts(tmp_path: Path, player: Path, recorder: Path) -> Iterator[Scripts]:
    folder = tmp_path / "runs"
    folder.mkdir()
    made = Scripts(folder, player, recorder)
    yield made
    made.close()


@pytest.fixture
def small(write_trace: Callable[[Sequence[Sequence[Row]]], Path], scripts: Scripts) -> Trace:
    """Two ranks, four steps of 10 ms."""
    return scripts.trace(write_trace([small_rank(0), small_rank(1)]))
