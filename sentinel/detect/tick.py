"""What a detector is given at one tick."""

from dataclasses import dataclass

from sentinel.measure.membership import Membership
from sentinel.measure.traffic import Traffic
from sentinel.measure.window import Window
from sentinel.model.snapshot import Snapshot
from sentinel.model.vocabulary import Vocabulary

__all__ = ["Tick"]


@dataclass(frozen=True)
class Tick:
    """A window that can be judged. `states` of communicators, by code, may still become `learning`.

    `frozen` are the codes of communicators that are judged as ever, and nothing is learnt from.
    """

    window: Window
    traffic: Traffic
    snapshot: Snapshot
    membership: Membership
    states: dict[int, str]
    frozen: frozenset[int] = frozenset()

    @property
    def vocabulary(self) -> Vocabulary:
        """Of all codes."""
        return self.snapshot.vocabulary
