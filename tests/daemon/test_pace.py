from sentinel.daemon.pace import Pace


def test_a_tick_that_does_not_come_is_missed_and_then_the_watchdog_is_not_fed() -> None:
    now = [100.0]
    pace = Pace(30.0, lambda: now[0])
    seen = {}
    for seconds in (0.0, 30.0, 59.0, 60.0, 89.0, 90.0, 1000.0):
        now[0] = 100.0 + seconds
        seen[seconds] = (pace.lost, pace.keeps)
    assert seen == {
        0.0: (False, True),
        30.0: (False, True),
        59.0: (False, True),
        60.0: (True, True),
        89.0: (True, True),
        90.0: (True, False),
        1000.0: (True, False),
    }
    pace.ticked()
    assert (pace.lost, pace.keeps) == (False, True)


def test_it_is_waited_no_longer_than_until_a_tick_is_missed_or_the_watchdog_is_to_be_fed() -> None:
    now = [100.0]
    pace = Pace(30.0, lambda: now[0])
    assert pace.wait_seconds(None) == 60.0
    assert pace.wait_seconds(15.0) == 15.0
    now[0] += 50.0
    assert pace.wait_seconds(15.0) == 10.0
    now[0] += 50.0
    assert pace.wait_seconds(None) == 0.0
