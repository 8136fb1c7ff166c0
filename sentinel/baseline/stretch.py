"""History in parts that are measured by themselves: in any order, anywhere, and not twice."""

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Stretch", "plan_stretches"]

_LEAST_INSTANTS = 120
_PER_PRIMING = 8  # times as long as what is read before it, so that that costs little


@dataclass(frozen=True)
class Stretch:
    """Instants `first` to `last`, Unix seconds; `windows` of them. Snapshots are read from `primed_from` on."""

    primed_from: float
    first: float
    last: float
    windows: int


def plan_stretches(first: float, last: float, step_seconds: float, priming_seconds: float) -> Iterator[Stretch]:
    """All stretches of first, first + step, … last (Unix seconds), in order.

    Before each as much is read as it takes to know what state it begins in, but nothing before `first`. They end at
    multiples of their length on the Unix clock, so that two ranges have most of them in common.
    """
    begin, end, step = (round(1000 * seconds) for seconds in (first, last, step_seconds))
    priming = max(1, -(-round(1000 * priming_seconds) // step)) * step
    length = max(_LEAST_INSTANTS * step, _PER_PRIMING * priming)
    at = begin
    while at <= end:
        until = min(end, at // length * length + length - 1)
        until = begin + (until - begin) // step * step
        yield Stretch(max(begin, at - priming) / 1000, at / 1000, until / 1000, (until - at) // step + 1)
        at = until + step
