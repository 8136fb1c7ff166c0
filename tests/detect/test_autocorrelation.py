"""AR(1) series: what an old value still tells."""

import numpy as np
import pytest

from sentinel.detect.autocorrelation import run_deviation, step_deviation


def ar1(rho: float, series: int, ticks: int) -> np.ndarray:
    random = np.random.default_rng(3)
    values = random.normal(size=(series, ticks + 1))
    for tick in range(1, ticks + 1):
        values[:, tick] = rho * values[:, tick - 1] + np.sqrt(1 - rho**2) * values[:, tick]
    return values


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("ticks", [1, 2, 5, 20])
def test_differences_from_the_expected_and_their_sums_scatter_as_said(rho: float, ticks: int) -> None:
    values = ar1(rho, 40_000, ticks)
    beyond = values[:, 1:] - values[:, :1] * rho ** np.arange(1, ticks + 1)
    remains = np.array([rho**ticks])
    assert step_deviation(remains)[0] == pytest.approx(beyond[:, -1].std(), rel=0.03)
    run = run_deviation(np.array([rho]), remains, np.array([float(ticks)]))[0]
    assert run == pytest.approx(beyond.sum(axis=1).std() / np.sqrt(ticks), rel=0.03)


def test_an_average_over_long_is_corrected_as_averages_are() -> None:
    assert run_deviation(np.array([0.8]), np.array([0.0]), np.array([np.inf]))[0] == pytest.approx(3.0)
