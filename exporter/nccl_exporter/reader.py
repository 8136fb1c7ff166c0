"""Reads one process's mapped file, scrape after scrape."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from nccl_exporter import communicator, header, layout
from nccl_exporter.model import Communicator
from nccl_exporter.record import Buffer, Records
from nccl_exporter.snapshot import Snapshots

# A closed communicator stays visible for this long, so that its last counts are scraped.
CLOSED_NS: Final = 60_000_000_000

_STATE: Final = np.dtype("<u4")
_IN_USE: Final = (layout.OPEN, layout.CLOSED)


class Reader:
    """What must be remembered of one process between scrapes, and how to read its file.

    `rejected` counts the rows left out, by reason, over the whole life of this object.
    """

    def __init__(self, monotonic_ns: Callable[[], int]) -> None:
        self._monotonic_ns = monotonic_ns
        self._snapshots = Snapshots()
        self._in_flight = Buffer(np.dtype("<u8"), layout.IN_FLIGHT)
        self._state = Buffer(_STATE)
        self._callback_ns: dict[int, tuple[int, float]] = {}
        self.rejected: Counter[str] = Counter()

    @property
    def torn(self) -> int:
        """Rows that stayed torn, over the whole life of this object."""
        return self._snapshots.torn

    def communicators(self, descriptor: int) -> Iterator[Communicator]:
        """Every communicator that is open, or was closed within the last minute.

        Raises SourceError when the file is cut.
        """
        self._snapshots.begin()
        seen: list[tuple[int, Records, int]] = []
        for slot in range(layout.COMMUNICATORS):
            state = int(self._state.fill(descriptor, layout.communicator_offset(slot))[0])
            record = self._snapshots.take(descriptor, slot) if state in _IN_USE else None
            if record is None or self._is_over(record):
                self._snapshots.forget(slot)
                self._callback_ns.pop(slot, None)
            else:
                closed = record["state"][0] == layout.CLOSED
                seen.append((slot, record, 0 if closed else self._oldest_inflight_ns(descriptor, slot)))
        # Names are only ever added, so those read last are enough for every row read before.
        names = header.read_names(descriptor)
        for slot, record, inflight_ns in seen:
            found = self._decoded(slot, record, names, inflight_ns)
            if found is not None:
                yield found

    def _is_over(self, record: Records) -> bool:
        closed_ns = int(record["closed_monotonic_ns"][0])
        return bool(record["state"][0] == layout.CLOSED and self._monotonic_ns() - closed_ns > CLOSED_NS)

    def _decoded(
        self, slot: int, record: Records, names: tuple[str | None, ...], inflight_ns: int
    ) -> Communicator | None:
        generation = int(record["generation"][0])
        kept_generation, kept_ns = self._callback_ns.get(slot, (generation, 0.0))
        found = communicator.decode(
            record,
            names,
            self.rejected,
            inflight_ns=inflight_ns,
            least_callback_ns=kept_ns if kept_generation == generation else 0.0,
        )
        if found is not None:
            self._callback_ns[slot] = (generation, found.callback_ns)
        return found

    def _oldest_inflight_ns(self, descriptor: int, slot: int) -> int:
        launches = self._in_flight.fill(descriptor, layout.communicator_offset(slot) + layout.IN_FLIGHT_OFFSET)
        launches = launches[launches != 0]
        # The clock is read after the launches: an operation launched meanwhile has an age of 0, not a negative one.
        return max(0, self._monotonic_ns() - int(launches.min())) if launches.size else 0
