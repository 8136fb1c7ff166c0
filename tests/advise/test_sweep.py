"""The whole chain on a recorded sweep of message sizes: player, plugin, exporter, Prometheus, `sentinel advise`.

What it says is what the recording's own rows say, within 1%.
"""

import json
import lzma
import math
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import httpx
import pytest
from plugin.traces import SHARED, recorded
from servers.process import free_port, running, wait_until
from servers.prometheus import prometheus

from sentinel.native import player_path, plugin_path
from sentinel.trace import PlayerGroup, StepRange, read_trace

COMMANDS = Path(sys.executable).parent
ELEMENT_BYTES = 4  # all of the recording is ncclFloat32
LEAST_OPERATIONS = 40  # of the rarest size, so that the iteration that is cut off counts little
FIELDS = ("latency_seconds", "bus_bandwidth_bytes_per_second")


def recorded_durations(path: Path) -> dict[tuple[int, str, str], list[float]]:
    """(bytes, algorithm, protocol) -> seconds of each operation, from one rank's rows."""
    starts, times = {}, defaultdict(list)
    for line in lzma.decompress(path.read_bytes()).splitlines():
        row = json.loads(line)
        if row["k"] == "start" and row["type"] == "Coll":
            starts[row["id"]] = row
        elif row["k"] == "start" and row["type"] == "KernelCh":
            times[row["parent"]].append(row["ptimer"])
            starts[row["id"]] = row
        elif row["k"] == "state" and row["type"] == "KernelCh":
            times[starts[row["id"]]["parent"]].append(row["ptimer"])
    found = defaultdict(list)
    for number, row in starts.items():
        if row["type"] == "Coll":
            key = (row["count"] * ELEMENT_BYTES, row["algo"], row["proto"])
            found[key].append((max(times[number]) - min(times[number])) * 1e-9)
    return found


def expected(folder: Path) -> dict[tuple[int, str, str], tuple[float, float]]:
    """Latency in seconds and bus bandwidth in bytes per second: the shorter of two ranks' geometric means."""
    ranks = [recorded_durations(path) for path in sorted(folder.glob("rank*.jsonl.xz"))]
    assert len(ranks) == 2
    figures = {}
    for key in ranks[0]:
        latency = min(math.exp(sum(map(math.log, rank[key])) / len(rank[key])) for rank in ranks)
        figures[key] = (latency, key[0] * 2 * (2 - 1) / 2 / latency)
    return figures


def test_latencies_and_bandwidths_are_those_of_the_recording(tmp_path: Path) -> None:
    folder = recorded("sweep2", (SHARED,))
    trace = read_trace(folder, ops_per_step=1)
    for name in ("job", "work"):
        (tmp_path / name).mkdir()
    environment = {
        "NCCL_SENTINEL_JOB": "sweep",
        "NCCL_SENTINEL_SAMPLE": "all",
        "NCCL_SENTINEL_BUDGET": "off",
    }
    target = f"127.0.0.1:{free_port()}"
    exporter = [
        str(COMMANDS / "nccl-exporter"),
        *("--source-dir", str(tmp_path / "job"), "--web.listen-address", target),
    ]
    started = time.time()
    with (
        PlayerGroup(
            trace,
            {"sweep": StepRange(0, trace.steps)},
            plugin=plugin_path(),
            player=player_path(),
            source_dir=tmp_path / "job",
            work_dir=tmp_path / "work",
            environment=environment,
        ) as players,
        running(exporter, tmp_path / "exporter", f"http://{target}/metrics"),
        prometheus(tmp_path / "prometheus", [target]) as url,
    ):
        players.start("sweep")

        def counted() -> bool:
            players.poll()
            query = 'min(increase(nccl_collective_operations_total{size="4"}[1m]))'
            answer = httpx.get(f"{url}/api/v1/query", params={"query": query}, trust_env=False).json()
            result = answer["data"]["result"]
            return bool(result) and float(result[0]["value"][1]) >= LEAST_OPERATIONS

        wait_until(counted, "Prometheus has seen the job", 60.0)
        result = subprocess.run(
            [
                COMMANDS / "sentinel",
                *("advise", "--from", str(started - 5), "--to", "now", "--json"),
                *("--set", f"prometheus.url={url}", "--set", "schedule.tick=1s"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    assert (result.returncode, result.stderr) == (0, "")
    rows = {(row["size_bytes"], row["algo"], row["proto"]): row for row in json.loads(result.stdout)["rows"]}
    figures = expected(folder)
    assert rows.keys() == figures.keys()
    for key, row in rows.items():
        assert tuple(row[name] for name in FIELDS) == pytest.approx(figures[key], rel=0.01), key
        assert (row["op"], row["nranks"], row["nnodes"], row["job_id"]) == ("AllReduce", 2, 1, "sweep")
        # One setting a size, and no other run: nothing that could be compared.
        assert (row["verdict"], row["reason"]) == ("cannot_tell", "nothing_to_compare")
