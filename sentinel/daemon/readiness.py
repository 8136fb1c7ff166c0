"""Whether the daemon does what it is there for."""

from sentinel.daemon.tally import Tally

__all__ = ["fault_of"]

_OVERDUE_TICKS = 3


def fault_of(tally: Tally, now: float) -> str:
    """Why it does not, at the monotonic time `now`; empty when its ticks end well, and in time."""
    if tally.last_good is None:
        return "not ready: no tick has ended well yet"
    silent_seconds = now - tally.last_good.ended
    if silent_seconds > _OVERDUE_TICKS * tally.tick_interval_seconds:
        return (
            f"not ready: no tick has ended well for {silent_seconds:.0f} s, "
            f"and one is due every {tally.tick_interval_seconds:g} s"
        )
    return ""
