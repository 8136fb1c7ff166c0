import sys
from pathlib import Path

import numpy as np
import pytest
from servers.command import Run
from servers.incidents import incident

from sentinel.cli.incident_picture import named_cells
from sentinel.plot.course import CellCourse, CommunicatorCourse, Course
from sentinel.state.store import State
from sentinel.state.tick import Outcome, TickRecord

NOTHING = Course(np.empty((0, 0)), np.empty((0, 5)))
CELLS = [
    ("AllReduce", "1048576", "RING", "LL"),
    ("AllReduce", "1048576", "TREE", "LL"),
    ("AllGather", "0", "RING", "LL"),
]
COURSE = CommunicatorCourse(
    np.empty(0), (3,), tuple(CellCourse(labels, 1.0, NOTHING, NOTHING) for labels in CELLS), NOTHING
)


def chosen(cells: object) -> list[tuple[tuple[str, ...], object]]:
    return [(cell.labels, normal) for cell, normal in named_cells({"cells": cells}, COURSE)]


def test_cells_stand_in_the_order_of_the_evidence() -> None:
    gather = {"op": "AllGather", "size_bytes": "0", "algo": "RING", "proto": "LL"}
    reduce = {"op": "AllReduce", "size_bytes": "1048576", "algo": "TREE", "proto": "LL"}
    learnt = {"baseline_lateness_seconds": 0.002, "baseline_spread_seconds": 0.001}
    assert chosen([{**gather, **learnt}, reduce]) == [(CELLS[2], (0.002, 0.001)), (CELLS[1], None)]
    assert chosen([{"op": "AllReduce"}]) == [(CELLS[0], None), (CELLS[1], None)]


@pytest.mark.parametrize("cells", [None, [], "x", [1], [{}], [{"peer": 3}], [{"op": "Broadcast"}]])
def test_without_such_cells_the_costly_ones_are_shown(cells: object) -> None:
    assert chosen(cells) == [(labels, None) for labels in CELLS]


@pytest.fixture
def options(tmp_path: Path) -> tuple[str, ...]:
    with State.open(tmp_path) as state:
        state.record(TickRecord(1.0, Outcome.OK, 0.0, 0), [incident()], 10)
    return (incident().id, "--set", f"state.directory={tmp_path}", "--set", "prometheus.url=http://127.0.0.1:9")


def test_without_matplotlib_it_says_what_to_install(
    run: Run, tmp_path: Path, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("explain", *options, "--plot", tmp_path / "a.png")
    assert (result.status, result.out) == (2, "")
    assert "matplotlib is not installed" in result.err
    assert "-m pip install matplotlib" in result.err
    assert run("explain", *options).status == 0


def test_a_wrong_file_is_refused_before_anything_is_read(run: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    for name, said in (("a.jpg", "Use one of .png, .svg, .pdf"), ("none/a.png", "no directory")):
        result = run("explain", *options, "--plot", tmp_path / name)
        assert (result.status, result.out) == (2, "")
        assert said in result.err


def test_a_store_that_cannot_be_reached_is_3(run: Run, tmp_path: Path, options: tuple[str, ...]) -> None:
    result = run("explain", *options, "--plot", tmp_path / "a.png")
    assert result.status == 3
    assert "cannot query Prometheus" in result.err
    assert not (tmp_path / "a.png").exists()
