import pytest

from sentinel.web.histogram import Histogram


def test_values_fall_into_the_bucket_whose_bound_they_do_not_pass() -> None:
    histogram = Histogram((1.0, 2.5))
    for value in (0.0, 1.0, 1.5, 2.5, 2.6, 100.0):
        histogram.observe(value)
    buckets, total = histogram.read()
    assert buckets == [("1.0", 2.0), ("2.5", 4.0), ("+Inf", 6.0)]
    assert total == pytest.approx(107.6)


def test_nothing_observed_is_all_zero() -> None:
    assert Histogram((1.0,)).read() == ([("1.0", 0.0), ("+Inf", 0.0)], 0.0)
