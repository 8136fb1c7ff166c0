"""The page that is made of a measurement's raw lines."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpu.overhead.ratios import NONE
from gpu.overhead.raw import Measurement
from gpu.overhead.report import page
from gpu.overhead_runs import runs


@pytest.fixture
def raw(tmp_path: Path) -> Callable[..., Path]:
    def write(workload: str = "all_reduce_64k", machines: int = 1, is_counted: bool = True) -> Path:
        machine = dict.fromkeys(
            ("date", "gpu", "driver", "cuda", "nccl", "torch", "python", "kernel", "cores", "cpu"), "x"
        )
        lines: list[dict[str, Any]] = [{"record": "machine", "values": "zeros", **machine}] * machines
        for run in runs(noise=0.001):
            common = {"round": run.round, "variant": run.variant, "workload": workload}
            line = {
                "record": "run",
                **common,
                "turn": run.turn,
                "place": run.place,
                "plugin": "" if run.variant == NONE else "Sentinel (v5)",
                "ranks": [
                    {"median_us": run.time_us - 1, "mean_us": run.time_us},
                    {"median_us": run.time_us + 1, "mean_us": 20},
                ],
            }
            lines.append(line)
            if run.variant != NONE and is_counted:
                counts = {"started": 1000, "measured": 62, "skipped": 938, "refused": 0, "callbacks": 3000}
                lines.append({"record": "counts", **common, **counts, "callback_seconds": 4e-4})
        path = tmp_path / "raw.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return write


def row(text: str, start: str) -> list[str]:
    return next(
        [cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith(f"| {start}")
    )


def test_a_run_takes_the_mean_of_its_ranks(raw: Callable[..., Path]) -> None:
    measurement = Measurement.load(raw())
    found = measurement.runs("all_reduce_64k")
    assert [(run.round, run.turn, run.place, run.variant) for run in found] == [
        (run.round, run.turn, run.place, run.variant) for run in runs(noise=0.001)
    ]
    assert [run.time_us for run in found] == pytest.approx([run.time_us for run in runs(noise=0.001)])
    assert measurement.runs("all_reduce_64k", "mean_us")[0].time_us == pytest.approx(15, abs=0.1)


def test_the_page_says_the_numbers(raw: Callable[..., Path]) -> None:
    text = page(Measurement.load(raw()), "raw.jsonl")
    variant, time, ratio, between, _means, costs, measured, callbacks, bar = row(text, "as shipped")
    assert (variant, measured, callbacks, bar) == ("as shipped", "6.20%", "0.40 us", "≤ 5.0%: met")
    assert float(time) == pytest.approx(10.2, abs=0.02)
    assert float(ratio) == pytest.approx(1.02, abs=0.001)
    low, high = map(float, between.split("–"))
    assert low <= float(ratio) <= high
    assert costs == "+0.20 us"
    assert row(text, "`NCCL_SENTINEL_SAMPLE=all`")[-1] == ""  # only what is shipped has a bar
    assert float(row(text, "noise floor")[2]) == pytest.approx(1, abs=0.001)
    assert "the median of 12\nrounds" in text
    assert "{" not in text


def test_the_step_is_told_in_milliseconds_and_held_to_its_own_bar(raw: Callable[..., Path]) -> None:
    text = page(Measurement.load(raw("step")), "raw.jsonl")
    assert row(text, "no plugin")[1] == "0.01"
    assert row(text, "as shipped")[-1] == "≤ 0.5%: not met"


def test_what_was_not_read_is_left_empty(raw: Callable[..., Path]) -> None:
    assert row(page(Measurement.load(raw(is_counted=False)), "raw.jsonl"), "as shipped")[6:8] == ["", ""]


@pytest.mark.parametrize("machines", [0, 2])
def test_a_file_tells_one_machine(raw: Callable[..., Path], machines: int) -> None:
    with pytest.raises(ValueError, match="one should"):
        Measurement.load(raw(machines=machines))
