import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel.model.instant import format_instant, parse_instant


def test_times_are_utc_to_the_millisecond() -> None:
    assert format_instant(1_795_980_960.0) == "2026-11-29T19:36:00.000Z"
    assert format_instant(1_795_980_960.1239) == "2026-11-29T19:36:00.124Z"
    assert format_instant(1_795_980_959.9996) == "2026-11-29T19:36:00.000Z"


@given(st.integers(0, 4_000_000_000_000))
def test_reading_gives_back_what_was_written(milliseconds: int) -> None:
    assert parse_instant(format_instant(milliseconds / 1000)) == milliseconds / 1000


def test_offsets_are_understood() -> None:
    assert parse_instant("2026-11-29T20:36:00+01:00") == 1_795_980_960.0


@pytest.mark.parametrize("text", ["2026-11-29T19:36:00", "yesterday", "", "2026-13-01T00:00:00Z"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write it with its offset"):
        parse_instant(text)
