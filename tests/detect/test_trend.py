import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sentinel.detect.trend import (
    autocorrelation,
    benjamini_hochberg,
    fit_lines,
    fit_ramps,
    mann_kendall,
    step_misfit,
)

PLACES = np.arange(64)


@given(st.integers(0, 2**32 - 1), st.integers(16, 64))
def test_without_autocorrelation_it_is_the_usual_test(seed: int, length: int) -> None:
    values = np.random.default_rng(seed).normal(size=length) + 0.02 * np.arange(length)
    (p,) = mann_kendall(values[None], np.zeros(1))
    score = sum(np.sign(values[j] - values[i]) for j in range(length) for i in range(j))
    z = max(0.0, score - 1) / np.sqrt(length * (length - 1) * (2 * length + 5) / 18)
    assert p == pytest.approx(stats.norm.sf(z))


def test_what_is_not_known_is_left_out() -> None:
    values = np.random.default_rng(1).normal(size=64) + 0.05 * PLACES
    holes = values.copy()
    holes[::3] = np.nan
    (with_holes,) = mann_kendall(holes[None], np.zeros(1))
    (without,) = mann_kendall(holes[np.isfinite(holes)][None], np.zeros(1))
    assert with_holes == pytest.approx(without)
    assert mann_kendall(np.full((1, 64), np.nan), np.zeros(1)) == [1.0]


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.6, 0.8])
def test_autocorrelated_noise_keeps_its_level(rho: float) -> None:
    random = np.random.default_rng(2)
    noise = random.normal(size=(8000, 64))
    for place in PLACES[1:]:
        noise[:, place] = rho * noise[:, place - 1] + np.sqrt(1 - rho**2) * noise[:, place]
    p = mann_kendall(noise, np.full(len(noise), rho))
    assert np.mean(p <= 0.05) == pytest.approx(0.05, rel=0.3)
    for level in (0.01, 0.001):
        assert np.mean(p <= level) <= 1.5 * level  # S is bounded: its tails are no longer than a normal's
    assert np.median(autocorrelation(fit_lines(noise))) == pytest.approx(rho, abs=0.07)


def test_a_ramp_is_found_where_it_bends() -> None:
    random = np.random.default_rng(3)
    begins = np.array([0, 10, 30, 45])
    values = 2.0 + 0.1 * np.maximum(0, PLACES - begins[:, None]) + 0.05 * random.normal(size=(4, 64))
    values[:, 20] = np.nan
    ramps = fit_ramps(values)
    assert ramps.begins == pytest.approx(begins, abs=2)
    assert ramps.slope == pytest.approx(0.1, rel=0.05)
    assert ramps.level == pytest.approx(2.0, abs=0.1)
    assert ramps.misfit == pytest.approx(np.nansum(ramps.residuals**2, axis=1))
    assert (ramps.misfit < step_misfit(values)).all()


@pytest.mark.parametrize("at", [8, 20, 32, 50, 60])
def test_a_step_is_told_from_a_ramp(at: int) -> None:
    random = np.random.default_rng(4)
    values = (at <= PLACES) * 1.0 + 0.2 * random.normal(size=(50, 64))
    misfit = step_misfit(values)
    assert (misfit < fit_ramps(values).misfit).all()
    best = [min(_two_levels(row, split) for split in range(1, 64)) for row in values]
    assert misfit == pytest.approx(np.array(best))


def _two_levels(row: np.ndarray, split: int) -> float:
    return float(sum(((part - part.mean()) ** 2).sum() for part in (row[:split], row[split:])))


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30))
def test_false_discoveries_as_scipy_counts_them(p: list[float]) -> None:
    values = np.array([*p, 1.0, 1.0])
    expected = stats.false_discovery_control(values)[: len(p)] <= 0.05
    assert benjamini_hochberg(np.array(p), len(values), 0.05).tolist() == expected.tolist()
