import pytest

from sentinel.model.quantity import format_quantity, format_seconds


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("lateness_seconds", 0.00104, ("lateness", "1.04 ms")),
        ("lateness_seconds", -5e-7, ("lateness", "-500 ns")),
        ("cost_ratio", 0.0909, ("cost", "9.09%")),
        ("message_bytes", 1 << 20, ("message", "1 MiB")),
        ("size_bytes", "1048576", ("size", "1 MiB")),
        ("size_bytes", "other", ("size bytes", "other")),
        ("operations", 2726, ("operations", "2726")),
        ("sigmas_from_peers", 21.7512, ("sigmas from peers", "21.75")),
        ("algo", "RING", ("algo", "RING")),
        ("confirmed_ratio", True, ("confirmed ratio", "True")),
        ("seconds", 3.0, ("seconds", "3")),
    ],
)
def test_a_key_s_last_word_is_the_unit(key: str, value: object, expected: tuple[str, str]) -> None:
    assert format_quantity(key, value) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0, "0 s"),
        (2e-8, "20 ns"),
        (2e-5, "20 us"),
        (0.25, "250 ms"),
        (25.0, "25 s"),
        (210.0, "3.5 min"),
        (9000.0, "2.5 h"),
    ],
)
def test_seconds_take_the_unit_that_suits_them(seconds: float, expected: str) -> None:
    assert format_seconds(seconds) == expected
