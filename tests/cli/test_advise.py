"""`sentinel advise` over a real Prometheus's history of two runs of one job."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from advise.runs import START, TICK, Job, Kind, bytes_text, history
from servers.command import Run
from servers.metrics_text import openmetrics
from servers.prometheus import fill, prometheus

TICKS = 30
NOW = [Kind(1.3e-3), Kind(2e-3, message_bytes=1 << 24), Kind(1e-3, op="Broadcast")]
OTHER = [Kind(1e-3, algo="TREE"), Kind(3e-3, message_bytes=1 << 24, algo="TREE"), Kind(1e-3, op="Broadcast")]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("prometheus")
    jobs = (Job(NOW), Job(OTHER, job_id="b", comm="00000000000000bb", seed=2))
    known = list(history(jobs, TICKS))
    text = openmetrics(snapshot for snapshot, _ in known).removesuffix("# EOF\n") + bytes_text(known) + "# EOF\n"
    fill(directory, text)
    with prometheus(directory) as address:
        yield address


@pytest.fixture
def options(url: str) -> tuple[object, ...]:
    return (
        *("--from", START - 1, "--to", START + TICKS * TICK + 1),
        *("--set", f"prometheus.url={url}", "--set", f"schedule.tick={TICK:.0f}s"),
    )


def test_a_table_and_the_experiment_in_words(run: Run, options: tuple[object, ...]) -> None:
    result = run("advise", *options)
    assert (result.status, result.err) == (0, "")
    lines = [" ".join(line.split()) for line in result.out.splitlines()]
    assert lines[0].startswith("JOB RANKS OPERATION COUNT LATENCY 95% MEDIAN RANK BUSBW GB/s 95% TIME ADVICE")
    (row,) = [line for line in lines if line.startswith("a 4 on 2 nodes AllReduce 1 MiB RING SIMPLE 600 1.3 ms")]
    assert row.endswith("try TREE/SIMPLE")
    (row,) = [line for line in lines if line.startswith("b 4 on 2 nodes AllReduce 1 MiB TREE SIMPLE")]
    assert row.endswith("best of 2 measured")
    (row,) = [line for line in lines if line.startswith("a 4 on 2 nodes Broadcast")]
    assert row.endswith("cannot tell: ranks leave early, or wait for one another")
    experiment = next(line for line in lines if "NCCL_ALGO=allreduce:tree" in line)
    assert experiment.startswith("- AllReduce 1 MiB RING SIMPLE (job a, 4 on 2 nodes): try NCCL_ALGO=allreduce:tree")
    assert "NCCL_PROTO=allreduce:simple: 1.3 times as fast (1.2" in experiment
    assert " in job b; saves at least 0.0" in experiment
    assert experiment.endswith("but at 16 MiB it took 1.5 times as long")


def test_the_same_as_json(run: Run, options: tuple[object, ...]) -> None:
    result = run("advise", "--json", *options)
    document = json.loads(result.out)
    assert (result.status, document["step_seconds"], document["partial_instants"]) == (0, TICK, 0)
    rows = {(row["job_id"], row["op"], row["size_bytes"]): row for row in document["rows"]}
    row = rows["a", "AllReduce", 1 << 20]
    assert row["latency_low_seconds"] < 1.3e-3 < row["latency_high_seconds"]
    assert row["bus_bandwidth_bytes_per_second"] == pytest.approx(1.5 * (1 << 20) / 1.3e-3, rel=0.02)
    assert (row["message_low_bytes"], row["message_high_bytes"]) == (1 << 20, 1 << 20)
    assert (row["operations"], row["windows"], row["compared"]) == (600, 30, 1)
    (experiment,) = row["experiments"]
    assert experiment["environment"] == {"NCCL_ALGO": "allreduce:tree", "NCCL_PROTO": "allreduce:simple"}
    assert (experiment["evidence"]["job_id"], experiment["evidence"]["algo"]) == ("b", "TREE")
    assert 1.2 < experiment["speedup_low_ratio"] < experiment["speedup_ratio"] < experiment["speedup_high_ratio"] < 1.4
    assert experiment["slower_at"][0]["size_bytes"] == 1 << 24


def test_a_longer_range_is_read_in_longer_windows(run: Run, options: tuple[object, ...]) -> None:
    longer = run("advise", "--json", *options, "--set", "schedule.tick=1s")
    assert json.loads(longer.out)["step_seconds"] == 1.0  # 302 of them
    longest = run("advise", "--json", *options, "--set", "schedule.tick=1s", "--from", START - 900)
    document = json.loads(longest.out)
    assert document["step_seconds"] == 4.0
    assert sum(row["operations"] for row in document["rows"]) == 6 * 600


def test_a_picture(run: Run, options: tuple[object, ...], tmp_path: Path) -> None:
    picture = tmp_path / "strategy.png"
    result = run("advise", "--plot", picture, *options)
    assert (result.status, result.err) == (0, f"Drawn to {picture}\n")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run("advise", "--plot", tmp_path / "a.jpg", *options).status == 2


def test_without_matplotlib_it_says_what_to_install(
    run: Run, options: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("advise", "--plot", tmp_path / "a.png", *options)
    assert (result.status, result.out) == (2, "")
    assert "-m pip install matplotlib" in result.err


def test_a_range_without_operations_is_3(run: Run, options: tuple[object, ...]) -> None:
    for start, end, said in ((START - 900, START - 600, "no history"), (START - 900, START + 1, "nothing measured")):
        result = run("advise", *options, "--from", start, "--to", end)
        assert (result.status, result.out) == (3, "")
        assert said in result.err


def test_a_range_that_is_none_is_2(run: Run, options: tuple[object, ...]) -> None:
    result = run("advise", *options, "--from", "now", "--to", time.time() - 60)
    assert result.status == 2
    assert "--from must be earlier" in result.err
