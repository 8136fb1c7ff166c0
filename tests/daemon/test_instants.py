from hypothesis import given
from hypothesis import strategies as st

from sentinel.config.schedule import ScheduleSettings
from sentinel.daemon.instants import Instants

DEFAULT = Instants(ScheduleSettings())
NOWS = st.floats(1e9, 4e9)
TICKS = st.sampled_from(["1s", "2s", "15s", "30s", "1s500ms", "1s1ms", "1h"])
DELAYS = st.sampled_from(["0s", "200ms", "5s", "45s"])


def instants(tick: str, delay: str) -> Instants:
    return Instants(ScheduleSettings.model_validate({"tick": tick, "evaluation_delay": delay}))


def test_an_instant_is_looked_at_once_its_delay_is_over() -> None:
    assert DEFAULT.latest(3004.999) == 2970.0
    assert DEFAULT.latest(3005.0) == 3000.0
    assert DEFAULT.due(3000.0) == 3005.0


@given(NOWS, TICKS, DELAYS)
def test_two_daemons_look_at_the_same_instants(now: float, tick: str, delay: str) -> None:
    one = instants(tick, delay)
    latest = one.latest(now)
    assert one.within(latest, latest) == (latest, latest)  # a multiple of the tick, so also a backtest's
    assert one.due(latest) <= round(now, 3)
    assert one.due(one.after(latest)) > round(now, 3)
    assert one.latest(one.due(latest)) == latest


@given(NOWS, TICKS, st.integers(-1000, 1000))
def test_ticks_are_counted_exactly(now: float, tick: str, count: int) -> None:
    one = instants(tick, "5s")
    latest = one.latest(now)
    assert one.between(latest, one.after(latest, count)) == count


def test_a_range_holds_the_multiples_in_it() -> None:
    assert DEFAULT.within(2999.0, 3061.0) == (3000.0, 3060.0)
    assert DEFAULT.within(3000.0, 3060.0) == (3000.0, 3060.0)
    first, last = DEFAULT.within(3001.0, 3029.0)
    assert first > last
