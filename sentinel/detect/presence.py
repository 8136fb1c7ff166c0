"""Which communicators are there, and which have been gone for too long to be waited for."""

from sentinel.measure.membership import Membership

__all__ = ["Presence"]


class Presence:
    """Remembers when each communicator was last seen.

    One that is gone for `gone_after_seconds` is over: its job has ended.
    """

    def __init__(self, gone_after_seconds: float) -> None:
        self._gone_after = gone_after_seconds
        self._last_seen: dict[int, float] = {}

    def step(self, time: float, membership: Membership) -> list[int]:
        """The communicators that are over as of now, each once."""
        self._last_seen.update(dict.fromkeys(membership.communicators, time))
        over = [comm for comm, seen in self._last_seen.items() if time - seen > self._gone_after]
        for comm in over:
            del self._last_seen[comm]
        return over

    def known(self, comm: int) -> bool:
        """Whether it is there, or may come back."""
        return comm in self._last_seen
