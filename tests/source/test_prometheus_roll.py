from datetime import timedelta

import numpy as np

from sentinel.source.prometheus_roll import Roll

#                comm, rank, node
KEYS = np.array([[5, 0, 1], [5, 1, 1], [6, 0, 1]], dtype=np.int32)


def counts(*values: float) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    return KEYS[:, :2], (np.array(values),)


def test_ranks_with_fresh_samples_are_present() -> None:
    roll = Roll.call(1000.0, (KEYS, (np.array([1000.0, 990.0, 963.0]),)), counts(40, 40, 40), None)
    assert roll.present.tolist() == KEYS.tolist()
    assert not len(roll.gone)


def test_two_and_a_half_measured_intervals_are_the_limit() -> None:
    """40 samples in 600 s: one every 15 s, so 37.5 s."""
    roll = Roll.call(1000.0, (KEYS, (np.array([1000.0, 962.5, 962.4]),)), counts(40, 40, 40), None)
    assert roll.present.tolist() == KEYS[:2].tolist()
    assert roll.sampled_at.tolist() == [1000.0, 962.5]
    rows = roll.without_gone((KEYS, (np.arange(3.0),)))
    assert rows[0].tolist() == KEYS[:2].tolist()
    assert rows[1][0].tolist() == [0.0, 1.0]


def test_a_rank_that_is_gone_stays_gone_for_as_long_as_the_server_shows_it() -> None:
    """Its samples leave the window that is counted while it ages: that must not bring it back."""
    for age in range(45, 301):
        held = max(1, (600 - age) // 15)
        described = (KEYS[:1], (np.array([1000.0 - age]),))
        assert len(Roll.call(1000.0, described, (KEYS[:1, :2], (np.array([float(held)]),)), None).gone) == 1, age


def test_a_configured_interval_counts_instead() -> None:
    described = (KEYS, (np.array([1000.0, 998.0, 994.9]),))
    assert Roll.call(1000.0, described, None, timedelta(seconds=2)).present.tolist() == KEYS[:2].tolist()


def test_a_rank_whose_interval_nobody_knows_is_present() -> None:
    described = (KEYS, (np.array([1000.0, 720.0, 1000.0]),))
    assert len(Roll.call(1000.0, described, None, None).present) == 3
    unknown = (KEYS[:1, :2], (np.array([40.0]),))
    assert len(Roll.call(1000.0, described, unknown, None).present) == 3


def test_of_two_descriptions_the_newest_counts() -> None:
    keys = np.array([[5, 0, 1], [5, 0, 2], [5, 1, 1]], dtype=np.int32)
    samples = (np.array([[5, 0], [5, 1]], dtype=np.int32), (np.array([40.0, 40.0]),))
    roll = Roll.call(1000.0, (keys, (np.array([980.0, 1000.0, 1000.0]),)), samples, None)
    assert roll.present.tolist() == [[5, 0, 2], [5, 1, 1]]
    assert roll.sampled_at.tolist() == [1000.0, 1000.0]
    assert roll.repeated == 1
    old = Roll.call(1000.0, (keys, (np.array([900.0, 1000.0, 1000.0]),)), samples, None)
    assert old.present.tolist() == [[5, 0, 2], [5, 1, 1]]
    assert old.repeated == 0
    assert not len(old.gone)


def test_nobody_at_all() -> None:
    nobody = np.empty((0, 3), dtype=np.int32)
    roll = Roll.call(1000.0, (nobody, (np.empty(0),)), (nobody[:, :2], (np.empty(0),)), None)
    assert len(roll.present) == roll.repeated == len(roll.gone) == 0
