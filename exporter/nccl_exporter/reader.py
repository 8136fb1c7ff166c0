"""Reads one process's mapped file, scrape after scrape."""

from collections import Counter
from collections.abc import Callable
from typing import Final

import numpy as np

from nccl_exporter import budget, identity, layout
from nccl_exporter.budget import Budget
from nccl_exporter.communicator import Tenant
from nccl_exporter.layout import SlotState
from nccl_exporter.model import Communicator
from nccl_exporter.names import Names
from nccl_exporter.record import Buffer
from nccl_exporter.snapshot import Snapshots

# A closed communicator stays visible for this long, so that its last counts are scraped.
CLOSED_NS: Final = 60_000_000_000

# The beginning of a communicator's block: all that is read of a slot that is of no interest.
_STATE: Final = np.dtype([("state", "<u4"), ("generation", "<u4")])
_IN_USE: Final = (layout.OPEN, layout.CLOSED)


class Reader:
    """What must be remembered of one process between scrapes, and how to read its file.

    `rejected` counts the rows left out, by reason, over the whole life of this object. `dropped` is what the rows of
    the communicators in the file have dropped, in the order of layout.DROPPED, by the last look at them.
    """

    def __init__(self, monotonic_ns: Callable[[], int], series_per_rank: int = budget.SERIES_PER_RANK) -> None:
        self._monotonic_ns = monotonic_ns
        self._snapshots = Snapshots()
        self._state = Buffer(_STATE)
        self._names = Names()
        self._tenants: dict[int, Tenant] = {}
        self._over: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._budget = Budget(series_per_rank)
        self.rejected: Counter[str] = Counter()

    @property
    def torn(self) -> int:
        """Rows that stayed torn, over the whole life of this object."""
        return self._snapshots.torn

    @property
    def folded(self) -> int:
        """Series that were folded into others, each once, over the whole life of this object."""
        return self._budget.folded

    @property
    def dropped(self) -> tuple[int, ...]:
        """See the class."""
        counts = [tenant.dropped for tenant in self._tenants.values()] + [dropped for _, dropped in self._over.values()]
        return tuple(sum(row[place] for row in counts) for place in range(len(layout.DROPPED)))

    def communicators(self, descriptor: int, since_ns: int = 0) -> list[Communicator]:
        """Every communicator that is open, or was closed within the last minute.

        The process began at `since_ns` of CLOCK_MONOTONIC. Raises SourceError when the file is cut.
        """
        self._snapshots.begin()
        for slot in range(layout.COMMUNICATORS):
            self._look_at(descriptor, slot, since_ns)
        tenants = [self._tenants[slot] for slot in sorted(self._tenants)]
        self._budget.keep(tenants)
        now_ns = self._monotonic_ns()
        return [tenant.communicator(now_ns) for tenant in tenants]

    def _look_at(self, descriptor: int, slot: int, since_ns: int) -> None:
        head = self._state.fill(descriptor, layout.communicator_offset(slot))[0]
        state, generation = int(head["state"]), int(head["generation"])
        if state == SlotState.CLOSED and slot in self._over and self._over[slot][0] == generation:
            return
        self._over.pop(slot, None)
        look = self._snapshots.take(descriptor, slot) if state in _IN_USE else None
        if look is None:
            self._tenants.pop(slot, None)
            return
        block = look.block
        who = identity.identify(block.head[0])
        if who is None:
            self.rejected["communicator"] += 1
            self._tenants.pop(slot, None)
            return
        tenant = self._tenants.get(slot)
        if tenant is None or not tenant.is_of(block.generation, who):
            tenant = self._tenants[slot] = Tenant(block.generation, who)
        # Every row of the look is older than the names read from here on, and every launch older than this moment.
        self._names.begin()
        now_ns = self._monotonic_ns()
        tenant.update(
            look,
            who,
            lambda index: self._names.get(descriptor, index),
            self.rejected,
            since_ns=since_ns,
            now_ns=now_ns,
        )
        if int(block.head["state"][0]) == layout.CLOSED:
            closed_ns = int(block.head["closed_monotonic_ns"][0])
            if not 0 <= now_ns - closed_ns <= CLOSED_NS:
                self._over[slot] = (block.generation, tenant.dropped)
                del self._tenants[slot]
