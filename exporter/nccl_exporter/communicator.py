"""One communicator from scrape to scrape: what its block says, checked, added up and never falling."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from nccl_exporter import catalogue, flight, identity, layout, table
from nccl_exporter.flight import Flights
from nccl_exporter.grouping import Grouping
from nccl_exporter.identity import Identity, NameOf, RowError
from nccl_exporter.layout import OperationKind
from nccl_exporter.model import Communicator, Operation
from nccl_exporter.rows import ChannelRows, TableRows, raised
from nccl_exporter.snapshot import Look, plain_words
from nccl_exporter.table import RowView, Words

_CELL_COLUMNS: Final = [0, 1, 2]
_DURATION_COLUMNS: Final = [0, 1, *range(4, 4 + layout.BUCKETS)]
_TOTAL_COLUMNS: Final = [0, 1, 3, *range(4, 4 + layout.BUCKETS)]
_PEER_COLUMNS: Final = [0, 1, 2]
_LINK_COLUMNS: Final = [7, 6, *range(6)]
_CHANNEL_COLUMNS: Final = [0, 1]

_SETTLED: Final = {outcome: place for place, outcome in enumerate(layout.SETTLED)}
# By outcome: where it is among the operation's settled counts, or that it cannot happen there.
_REFUSED: Final = [(layout.OUTCOMES.index(reason), _SETTLED.get(reason)) for reason in layout.REFUSED]
_DROPPED: Final = [
    (layout.OUTCOMES.index(f"dropped_{reason}"), _SETTLED.get(f"dropped_{reason}"))
    if f"dropped_{reason}" in layout.OUTCOMES
    else None
    for reason in layout.DROPPED
]


class Tenant:
    """One generation of a slot under one name: (id, rank). Other facts about it may become known later."""

    def __init__(self, generation: int, who: Identity) -> None:
        self.generation: Final = generation
        self.who = who
        self._operations, self._cells, self._peers, self._links = (TableRows(place) for place in table.TABLES)
        self._channels = ChannelRows()
        self._names: dict[int, tuple[str, OperationKind]] = {}
        self._words: Words = np.zeros((layout.OPERATIONS, 1 + len(layout.OUTCOMES)), np.uint64)
        self._started = [0] * layout.OPERATIONS
        self._flights = flight.NONE
        self._callbacks: Words = np.zeros(3, np.uint64)
        self._callback_ns = 0.0
        self._is_open = self._is_still = True
        rank = f'comm="{who.id:016x}",rank="{who.rank}"'

        def grouping(rows: Any, columns: list[int], labels: Iterable[str]) -> Grouping:
            return Grouping(rows, columns, "".join([rank, *(f',{label}="%s"' for label in labels)]))

        self.groupings: Final[Mapping[str, Grouping]] = {
            "cells": grouping(self._cells, _CELL_COLUMNS, catalogue.OPERATIONS.labels[2:]),
            "durations": grouping(self._cells, _DURATION_COLUMNS, catalogue.DURATION.labels[2:]),
            "peers": grouping(self._peers, _PEER_COLUMNS, catalogue.P2P_OPERATIONS.labels[2:]),
            "links": grouping(self._links, _LINK_COLUMNS, catalogue.NETWORK_BYTES.labels[2:]),
            "channels": grouping(self._channels, _CHANNEL_COLUMNS, catalogue.CHANNEL_SECONDS.labels[2:]),
        }
        self._totals = (
            Grouping(self._cells, _TOTAL_COLUMNS, "%s"),
            Grouping(self._peers, _PEER_COLUMNS, "%s"),
        )

    def is_of(self, generation: int, who: Identity) -> bool:
        """Whether a block with this generation and identity is still the same communicator."""
        return self.generation == generation and (self.who.id, self.who.rank) == (who.id, who.rank)

    def update(
        self, look: Look, who: Identity, name_of: NameOf, rejected: Counter[str], *, since_ns: int, now_ns: int
    ) -> None:
        """Take over what a look has found; rows left out are counted by reason (catalogue.ROW_REASONS)."""
        self.who = who
        self._is_still = look.is_still
        head = look.block.head[0]
        self._is_open = int(head["state"]) == layout.OPEN
        rows = (self._operations, self._cells, self._peers, self._links)
        decoders: tuple[Callable[[RowView, int], None], ...] = (
            lambda view, row: self._admit_operation(view, row, name_of),
            lambda view, row: self._admit_cell(view, row, name_of),
            lambda view, row: self._admit_peer(view, row, name_of),
            lambda view, row: self._admit_link(view, row),
        )
        for known, view, opened, whole, decode in zip(
            rows, look.block.tables, look.open, look.whole, decoders, strict=True
        ):
            known.begin()
            for row in known.update(view, opened, whole, rejected).tolist():
                try:
                    decode(view, row)
                except RowError as error:
                    rejected[str(error)] += 1
                else:
                    known.admit(row, view)
        self._channels.begin()
        for row in self._channels.update(look.block.channels, rejected).tolist():
            self.groupings["channels"].admit(row, identity.channel(row))
        self._count_started(look, rejected, since_ns, now_ns)
        words = np.array([head["callbacks"], head["callbacks_timed"], head["callback_ns"]], np.uint64)
        self._callbacks = raised(self._callbacks, words, rejected)

    def communicator(self, now_ns: int) -> Communicator:
        """What is published of it now."""
        who = self.who
        operations = self._by_operation()
        callbacks = int(self._callbacks[0]) + sum(row.skipped for row in operations)
        timed, timed_ns = int(self._callbacks[1]), int(self._callbacks[2])
        # Scaling by another sample must not look like a counter that was reset.
        self._callback_ns = max(self._callback_ns, timed_ns * callbacks / timed if timed else 0.0)
        oldest = self._flights.oldest_ns if self._is_open else None
        return Communicator(
            id=who.id,
            rank=who.rank,
            nranks=who.nranks,
            nnodes=who.nnodes,
            name=who.name,
            gpu=who.gpu,
            gpu_uuid=who.gpu_uuid,
            opened_unix_ns=who.opened_unix_ns,
            inflight_ns=0 if oldest is None else max(0, now_ns - oldest),
            callbacks=callbacks,
            callback_ns=self._callback_ns,
            operations=operations,
            **{name: grouping.series() for name, grouping in self.groupings.items()},
            is_still=self._is_still,
        )

    @property
    def started_series(self) -> int:
        """How many operations have a series of their own."""
        return len({self._names[row] for row in self._names if self._started[row]})

    @property
    def collectives(self) -> int:
        """How many of them have been measured as collectives."""
        return len(self._totals[0])

    @property
    def dropped(self) -> tuple[int, ...]:
        """Operations dropped, in the order of layout.DROPPED."""
        settled = self._operations.values.sum(axis=0)
        left_out = self._words[:, 1:].sum(axis=0, dtype=np.float64)
        return tuple(0 if place is None else _outcome(left_out, settled, *place) for place in _DROPPED)

    def _admit_operation(self, view: RowView, row: int, name_of: NameOf) -> None:
        self._names[row] = identity.operation(view.records[row], name_of)

    def _admit_cell(self, view: RowView, row: int, name_of: NameOf) -> None:
        key = identity.cell(view.records[row], name_of)
        self.groupings["cells"].admit(row, key)
        self.groupings["durations"].admit(row, key[:1])
        self._totals[0].admit(row, key[:1])

    def _admit_peer(self, view: RowView, row: int, name_of: NameOf) -> None:
        key = identity.peer(view.records[row], name_of, self.who.nranks)
        self.groupings["peers"].admit(row, key)
        self._totals[1].admit(row, key[:1])

    def _admit_link(self, view: RowView, row: int) -> None:
        self.groupings["links"].admit(row, identity.link(view.records[row], self.who.nranks))

    def _count_started(self, look: Look, rejected: Counter[str], since_ns: int, now_ns: int) -> None:
        words, rows = plain_words(look.block), list(self._names)
        self._words[rows] = raised(self._words[rows], words[rows], rejected)
        endings = zip(look.block.tables[table.ENDINGS], look.open[table.ENDINGS], strict=True)
        self._flights = flight.decode(
            look.block.in_flight,
            np.concatenate([view.commit[opened] for view, opened in endings]),
            words[:, 0],
            look.open_later,
            since_ns=since_ns,
            now_ns=now_ns,
            rejected=rejected,
        )
        # Rows that were copied again are newer than the flight words: only a still look can add the two up.
        started = self._words if look.is_still else raised(self._words, look.words_later, Counter())
        for row in rows:
            uncounted = int(self._flights.uncounted[row]) if look.is_still else 0
            self._started[row] = max(self._started[row], sum(started[row].tolist()) + uncounted)

    def _by_operation(self) -> tuple[Operation, ...]:
        measured, p2p = (totals.series().by_key() for totals in self._totals)
        found: dict[tuple[str, bool], Operation] = {}
        for row, (name, kind) in self._names.items():
            is_p2p = kind is OperationKind.POINT_TO_POINT
            counted = self._operation(row, name, kind, self._flights)
            if (same := found.get((name, is_p2p))) is not None:
                counted = _sum(same, counted)
            found[name, is_p2p] = counted
        return tuple(
            _measured(row, (p2p if is_p2p else measured).get((name,))) for (name, is_p2p), row in found.items()
        )

    def _operation(self, row: int, name: str, kind: OperationKind, flights: Flights) -> Operation:
        left_out, settled = self._words[row, 1:], self._operations.values[row]
        return Operation(
            name=name,
            kind=kind,
            started=self._started[row],
            operations=0,
            duration_ns=0,
            bytes=0,
            buckets=(),
            skipped=int(left_out[0]),
            refused=tuple(_outcome(left_out, settled, *place) for place in _REFUSED),
            dropped=tuple(0 if place is None else _outcome(left_out, settled, *place) for place in _DROPPED),
            in_flight=int(flights.in_flight[row]),
            is_measured=False,
        )


def _outcome(left_out: NDArray[Any], settled: NDArray[Any], before: int, after: int | None) -> int:
    return int(left_out[before]) + (0 if after is None else int(settled[after]))


def _sum(one: Operation, other: Operation) -> Operation:
    """Two rows of one name: a series is given once."""
    return one._replace(
        started=one.started + other.started,
        skipped=one.skipped + other.skipped,
        refused=tuple(a + b for a, b in zip(one.refused, other.refused, strict=True)),
        dropped=tuple(a + b for a, b in zip(one.dropped, other.dropped, strict=True)),
        in_flight=one.in_flight + other.in_flight,
    )


def _measured(row: Operation, totals: tuple[float, ...] | None) -> Operation:
    if totals is None:
        return row
    operations, duration_ns, size, *buckets = map(int, totals)
    return row._replace(
        operations=operations, duration_ns=duration_ns, bytes=size, buckets=tuple(buckets), is_measured=True
    )
