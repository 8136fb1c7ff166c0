"""Which communicators are there, and which have been gone for too long to be waited for."""

from collections.abc import Collection

from sentinel.measure.membership import Membership

__all__ = ["Presence"]


class Presence:
    """Remembers when each communicator was last seen.

    One that is gone for `gone_after_seconds` is over: its job has ended. So is one of which nobody knew who its members
    are, once nothing is heard of it.
    """

    def __init__(self, gone_after_seconds: float) -> None:
        self._gone_after = gone_after_seconds
        self._last_seen: dict[int, float] = {}
        self._last_heard: dict[int, float] = {}

    def step(self, time: float, membership: Membership, heard: Collection[int] = ()) -> set[int]:
        """The communicators that are over as of now, each once. `heard`: those that have any series at all."""
        over = _lost(self._last_seen, membership.communicators, time, self._gone_after)
        # Who is there may be silent: its job pauses.
        return over | (_lost(self._last_heard, heard, time, self._gone_after) - self._last_seen.keys())

    def known(self, comm: int) -> bool:
        """Whether it is there, or may come back."""
        return comm in self._last_seen


def _lost(last: dict[int, float], there: Collection[int], time: float, after_seconds: float) -> set[int]:
    """Those in `last` that were not there for so long, which are taken out of it."""
    last.update(dict.fromkeys(there, time))
    lost = {comm for comm, seen in last.items() if time - seen > after_seconds}
    for comm in lost:
        del last[comm]
    return lost
