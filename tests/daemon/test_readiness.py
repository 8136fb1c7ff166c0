from sentinel.daemon.readiness import fault_of
from sentinel.daemon.tally import GoodTick, Tally


def test_not_before_the_first_good_tick() -> None:
    assert fault_of(Tally(tick_interval_seconds=30.0), 1000.0) == "not ready: no tick has ended well yet"


def test_until_more_than_three_ticks_are_overdue() -> None:
    tally = Tally(tick_interval_seconds=30.0, last_good=GoodTick(1_795_980_960.0, 1000.0))
    assert fault_of(tally, 1000.0) == fault_of(tally, 1090.0) == ""
    assert fault_of(tally, 1091.0) == ("not ready: no tick has ended well for 91 s, and one is due every 30 s")
