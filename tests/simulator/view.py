"""From counters to snapshots, in arrays: codes are computed once for each start of the job."""

from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt
from simulator.layout import Kind, Layout
from simulator.ledger import Cell, InFlight, Key, Network, Peer, Started
from simulator.placement import Placement
from simulator.ring import recv_peer, send_peer
from simulator.scraper import Scraper

from sentinel.model.snapshot import (
    CellTable,
    CommunicatorTable,
    DataQuality,
    ExporterTable,
    InFlightTable,
    NetworkTable,
    PeerTable,
    Snapshot,
    StartedTable,
)
from sentinel.model.vocabulary import Codes, Vocabulary

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Columns = tuple[Codes, ...]


def node_name(machine: int) -> str:
    """As its exporter says it."""
    return f"node{machine:05d}"


def instance_name(machine: int) -> str:
    """The address at which a machine's exporter is scraped."""
    return f"{node_name(machine)}:9400"


class View:
    """Who is who from one start of a job to the next, and the snapshots of that time."""

    def __init__(self, vocabulary: Vocabulary, layout: Layout, placement: Placement, start: int) -> None:
        self._vocabulary = vocabulary
        self._layout = layout
        self._placement = placement
        self._start = start
        self._comm: dict[str, Codes] = {}
        self._cached: dict[tuple[Key, ...], Columns] = {}
        self._who: dict[tuple[str, ...], Columns] = {}
        machines = vocabulary.codes(instance_name(machine) for machine in range(int(placement.machine.max()) + 1))
        self._instance = machines[placement.node_of]

    def snapshot(
        self, time: float, layout: Layout, scraper: Scraper, missing: Flags, warnings: tuple[str, ...]
    ) -> Snapshot:
        """What the store says at the Unix time `time`; missing: machines that its answer leaves out."""
        self._layout = layout
        shown = scraper.shown(time) & ~missing[self._placement.node_of]
        kinds = tuple(layout.kinds)
        who = self._who.get(kinds)
        if who is None:
            who = self._who[kinds] = _joined([self._describe(layout.kinds[kind]) for kind in kinds])
        everywhere = np.tile(shown, len(kinds))
        *described, instance = _kept(who, everywhere)
        answering = scraper.answering(time) & ~missing
        exporters = self._vocabulary.codes(instance_name(machine) for machine in np.flatnonzero(answering).tolist())
        return Snapshot(
            time=time,
            vocabulary=self._vocabulary,
            communicators=CommunicatorTable(*described),
            cells=CellTable(*self._rows(scraper, Cell, shown)),
            started=StartedTable(*self._rows(scraper, Started, shown)),
            in_flight=InFlightTable(*self._rows(scraper, InFlight, shown)),
            sampled_at=np.tile(scraper.rank_sampled_at[shown], len(kinds)),
            quality=DataQuality(warnings=warnings),
            peers=PeerTable(*self._rows(scraper, Peer, shown)),
            network=NetworkTable(*self._rows(scraper, Network, shown)),
            exporters=ExporterTable(exporters, scraper.machine_sampled_at[answering]),
            instance=instance,
        )

    def _rows(self, scraper: Scraper, table: type[Key], shown: Flags) -> tuple[Any, ...]:
        """Codes and values of the rows that are shown: a series appears when it has something to say."""
        keys = tuple(key for key in scraper.counts if isinstance(key, table) and key.kind in self._layout.kinds)
        if not keys:
            widths = {Cell: (6, 3), Started: (3, 1), InFlight: (2, 1), Peer: (4, 2), Network: (5, 2)}
            codes, values = widths[table]
            return (*[np.empty(0, dtype=np.int32)] * codes, *[np.empty(0)] * values)
        columns = self._cached.get(keys)
        if columns is None:
            columns = self._cached[keys] = _joined([self._identify(key) for key in keys])
        counts = np.concatenate([scraper.counts[key] for key in keys], axis=1)
        keep = np.tile(shown, len(keys))
        if table is not InFlight:
            keep &= counts[0] > 0
        return (*_kept(columns, keep), *(counts if keep.all() else counts[:, keep]))

    def _identify(self, key: Key) -> Columns:
        kind, code = self._layout.kinds[key.kind], self._vocabulary.code
        place = (self._comms(kind), kind.rank.astype(np.int32))

        def all_of(text: str) -> Codes:
            return np.full(self._layout.ranks, code(text), dtype=np.int32)

        if isinstance(key, Cell):
            return (*place, *(all_of(str(text)) for text in (key.op, key.size, key.algo, key.proto)))
        if isinstance(key, Started):
            return (*place, all_of(key.op))
        if isinstance(key, Peer):
            return (*place, all_of(key.op), (kind.rank + key.offset).astype(np.int32))
        if isinstance(key, Network):
            peer = send_peer(kind) if key.direction == "send" else recv_peer(kind)
            return (*place, peer.astype(np.int32), all_of(key.direction), all_of(key.state))
        return place

    def _describe(self, kind: Kind) -> Columns:
        """The columns of CommunicatorTable, and the exporter's address."""
        ranks, code = np.arange(self._layout.ranks), self._vocabulary.code
        gpu_of, per_node = self._placement.gpu_of, self._placement.gpus_per_node
        machines, machine = np.unique(self._placement.node_of, return_inverse=True)
        gpus = self._vocabulary.codes(str(gpu) for gpu in range(per_node))
        values: dict[str, npt.NDArray[np.integer[Any]]] = {
            "comm": self._comms(kind),
            "rank": kind.rank,
            "global_rank": ranks,
            "nranks": np.full(len(ranks), kind.nranks),
            "nnodes": kind.nnodes[kind.group],
            "comm_name": np.full(len(ranks), code(kind.comm_name)),
            "node": self._vocabulary.codes(map(node_name, machines.tolist()))[machine],
            "gpu": gpus[gpu_of % per_node],
            "gpu_uuid": self._vocabulary.codes(f"GPU-{gpu:012x}" for gpu in gpu_of.tolist()),
            "job_id": np.full(len(ranks), code(self._layout.job_id)),
        }
        return (*(values[field.name].astype(np.int32) for field in fields(CommunicatorTable)), self._instance)

    def _comms(self, kind: Kind) -> Codes:
        if kind.name not in self._comm:
            self._comm[kind.name] = self._vocabulary.codes(self._layout.comm_ids(kind, self._start))[kind.group]
        return self._comm[kind.name]


def _joined(parts: list[Columns]) -> Columns:
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _kept(columns: Columns, keep: Flags) -> Columns:
    return columns if keep.all() else tuple(column[keep] for column in columns)
