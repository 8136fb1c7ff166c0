"""baseline diff and show, over stored baselines."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cluster.job import Job
from servers.command import Run

from sentinel.baseline.baseline import Baseline
from sentinel.baseline.builder import BaselineBuilder
from sentinel.config.detection import BaselineSettings
from sentinel.state.store import State


def built(job: Job) -> Baseline:
    builder = BaselineBuilder(BaselineSettings.model_validate({"warm_up": "4s"}))
    for snapshot in job.ticks(30):
        builder.add(snapshot)
    return builder.build()


def keep(directory: Path, *baselines: Baseline) -> None:
    with State.open(directory) as state:
        for number, baseline in enumerate(baselines):
            state.add_baseline(2e9 + number, baseline.start, baseline.end, baseline.to_bytes())


@pytest.fixture
def options(tmp_path: Path) -> tuple[str, ...]:
    return ("--set", f"state.directory={tmp_path}")


def test_the_newest_against_the_one_before(run: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    late = Job(comm_name="dp", seed=2)
    late.delay_seconds[5] = 0.001
    first, same, other = built(Job(comm_name="dp")), built(Job(comm_name="dp", seed=3)), built(late)
    keep(tmp_path, first, same, other)

    result = run("baseline", "diff", *options)
    assert result.status == 1
    assert result.out.startswith("A: baseline 2, 16 rows, from ")
    # Lateness by geometric means, and by arithmetic ones.
    assert "16 rows in both: 2 changes beyond noise; 0 rows gone, 0 new" in result.out
    (row,) = [line for line in result.out.splitlines() if "lateness" in line]
    assert "dp (8 ranks on 2 nodes: 0-7)" in row
    assert "node1 GPU 1" in row
    assert "AllReduce 1 MiB RING SIMPLE" in row

    document = json.loads(run("baseline", "diff", "--json", *options).out)
    change, other = sorted(document["changed"], key=lambda each: each["value"])
    assert (other["value"], other["b"]["rank"]) == ("wait_seconds", 5)
    assert (document["a"]["version"], document["b"]["version"], document["compared_rows"]) == (2, 3, 16)
    assert (change["value"], change["b"]["rank"]) == ("lateness_seconds", 5)
    assert change["after_seconds"] - change["before_seconds"] == pytest.approx(0.001, abs=0.0001)
    assert document["gone"] == document["new"] == []

    assert run("baseline", "diff", 1, 2, *options).status == 0
    assert json.loads(run("baseline", "diff", 1, "--json", *options).out)["b"]["version"] == 3
    assert run("baseline", "diff", 3, 3, *options).status == 0


def test_a_job_that_ended_is_a_line(run: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    keep(tmp_path, built(Job(job_id="1")), built(Job(job_id="2", nranks=4)))
    result = run("baseline", "diff", *options)
    assert result.status == 1
    gone, new = (line for line in result.out.splitlines() if line.startswith(("gone", "new")))
    assert gone.split()[1] == "1"
    assert "AllGather 64 KiB RING SIMPLE, AllReduce 1 MiB RING SIMPLE" in gone
    assert gone.split()[-2:] == ["8", "16"]
    assert new.split()[-2:] == ["4", "8"]
    document = json.loads(run("baseline", "diff", "--json", *options).out)
    assert (len(document["gone"]), len(document["new"])) == (16, 8)


def test_nothing_to_compare_is_2(run: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    assert "no two baselines to compare" in run("baseline", "diff", *options).err
    keep(tmp_path, built(Job()))
    wrong = {(): "1 kept", (1, 7): "no baseline 7", ("x",): "valid integer", (1, 1, 1): "argument"}
    for arguments, said in wrong.items():
        result = run("baseline", "diff", *arguments, *options)
        assert (result.status, result.out) == (2, "")
        assert said in result.err


def test_show_tells_equal_sized_communicators_apart(run: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    rows = built(Job()).rows
    other = tuple(replace(row, members="1-15:2") for row in rows)
    keep(tmp_path, Baseline(0.0, 1.0, 2.0, rows + other))
    table = run("baseline", "show", *options).out
    assert table.count("- (8 ranks on 2 nodes: 0-7)") == 16
    assert table.count("- (8 ranks on 2 nodes: 1-15:2)") == 16


def test_versions_are_listed(run: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    none = run("baseline", "show", "--versions", *options)
    assert (none.status, none.out) == (0, "")
    assert "No baseline is kept" in none.err
    baseline = built(Job())
    keep(tmp_path, baseline, baseline)
    listed = json.loads(run("baseline", "show", "--versions", "--json", *options).out)
    assert [each["version"] for each in listed] == [2, 1]
    assert listed[0]["size_bytes"] == len(baseline.to_bytes())
    header, *lines = run("baseline", "show", "--versions", *options).out.splitlines()
    assert header.split() == ["VERSION", "BUILT", "FROM", "TO", "SIZE"]
    assert [line.split()[0] for line in lines] == ["2", "1"]
    assert run("baseline", "show", "--versions", "--version", 1, *options).status == 2
