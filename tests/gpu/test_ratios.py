"""The statistics of the overhead measurement, on numbers whose answer is known."""

from dataclasses import replace

import numpy as np
import pytest
from gpu.overhead.ratios import Interval, median_interval, noise_ratios, variant_ratios, verdict
from gpu.overhead_runs import ROUNDS, TURNS, runs


def test_the_ratio_is_what_the_variant_costs() -> None:
    assert variant_ratios(runs(), "default") == pytest.approx([1.02] * ROUNDS)
    assert noise_ratios(runs()) == [1.0] * ROUNDS


def test_drift_cancels_but_for_the_place_in_the_turn() -> None:
    # Over the whole measurement the times grow by 20%, and a comparison of unpaired means would see the order.
    interval = median_interval(variant_ratios(runs(drift=0.001), "default"))
    assert interval.median == pytest.approx(1.02, abs=0.002)
    assert noise_ratios(runs(drift=0.001)) == pytest.approx([1] * ROUNDS, abs=0.005)


def test_turns_of_the_same_processes_are_not_independent() -> None:
    assert len(runs()) == 5 * TURNS * ROUNDS
    assert len(variant_ratios(runs(), "default")) == ROUNDS


def test_one_bad_run_does_not_move_the_median() -> None:
    hiccup = [
        replace(run, time_us=run.time_us * (5 if (run.round, run.variant) == (3, "default") else 1))
        for run in runs(noise=0.002)
    ]
    assert median_interval(variant_ratios(hiccup, "default")).median == pytest.approx(1.02, abs=0.004)


def test_the_interval_holds_the_truth_and_is_the_same_every_time() -> None:
    ratios = variant_ratios(runs(noise=0.01), "default")
    interval = median_interval(ratios)
    assert interval.low < 1.02 < interval.high
    assert interval.low <= interval.median <= interval.high
    assert interval.high - interval.low < 0.04
    assert interval == median_interval(ratios)
    assert interval.rounds == ROUNDS


def test_the_interval_covers_as_often_as_it_says() -> None:
    # A percentile interval of the median of 12 is a little conservative or a little off; far off would be a bug.
    random = np.random.default_rng(3)
    intervals = [median_interval((1 + 0.01 * random.standard_normal(ROUNDS)).tolist()) for _ in range(100)]
    assert 85 <= sum(interval.low <= 1 <= interval.high for interval in intervals) <= 100


def test_a_turn_that_was_cut_short_does_not_count() -> None:
    late = [replace(run, time_us=99.0) if (run.round, run.turn) == (2, 1) else run for run in runs()]
    cut = [run for run in late if not (run.place == 4 and ((run.round, run.turn) == (2, 1) or run.round == 3))]
    assert variant_ratios(cut, "default") == pytest.approx([1.02] * (ROUNDS - 1))
    assert len(noise_ratios(cut)) == ROUNDS - 1


@pytest.mark.parametrize("ratios", [[], [1.0]])
def test_one_round_has_no_interval(ratios: list[float]) -> None:
    with pytest.raises(ValueError, match="two or more"):
        median_interval(ratios)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.99, 1.049, "met"),
        (0.99, 1.05, "met"),
        (1.04, 1.06, "undecided"),
        (1.05, 1.06, "undecided"),
        (1.051, 1.06, "not met"),
    ],
)
def test_a_bar_is_met_by_the_whole_interval(low: float, high: float, said: str) -> None:
    assert verdict(Interval((low + high) / 2, low, high, ROUNDS), 0.05) == said
