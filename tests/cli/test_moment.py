import pytest

from sentinel.cli.moment import parse_moment, parse_range
from sentinel.errors import ConfigError

NOW = 1_795_980_960.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", NOW),
        ("7d", NOW - 7 * 86400),
        ("1h30m", NOW - 5400),
        ("2026-11-29T19:36:00Z", NOW),
        ("2026-11-29T20:36:00.5+01:00", NOW + 0.5),
        ("1795980960", NOW),
        ("1795980960.25", NOW + 0.25),
    ],
)
def test_times_are_written_in_four_ways(text: str, expected: float) -> None:
    assert parse_moment(text, NOW) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "-5", "nan", "inf", "1e300", "2026-11-29", "5 m", "100000w"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="not a time"):
        parse_moment(text, NOW)


def test_a_range_goes_forward() -> None:
    assert parse_range("1h", "now", NOW) == (NOW - 3600, NOW)
    with pytest.raises(ConfigError, match="--from must be earlier"):
        parse_range("now", "1h", NOW)
