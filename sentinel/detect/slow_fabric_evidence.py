"""Why a fabric is called slow, in numbers that a person can check."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sentinel.detect.common_place import CommonPlace
from sentinel.detect.fabric_history import FabricReading
from sentinel.measure.membership import Communicator
from sentinel.measure.transfers import Transfers
from sentinel.model.incident import Culprit, Finding
from sentinel.model.vocabulary import Vocabulary

__all__ = ["SlowCommunicator", "by_cost", "slow_fabric_finding"]

_CELLS_SHOWN = 4


@dataclass(frozen=True)
class SlowCommunicator:
    """A communicator whose alarm stands. `place` is its row in the reading."""

    communicator: Communicator
    cost_ratio: float  # mean over the run
    started_at: float
    reading: FabricReading
    place: int
    transfers: Transfers
    cusum: float
    cusum_threshold: float


def slow_fabric_finding(
    slow: Sequence[SlowCommunicator], culprit: Culprit, place: CommonPlace | None, vocabulary: Vocabulary
) -> Finding:
    """The finding about one job, from its slow communicators, under the name that it has been given.

    `place`: where they meet, and no healthy one, if there is one. Communicators may work at the same time, so their
    costs are not added.
    """
    worst, *others = by_cost(slow)
    reading, at = worst.reading, worst.place
    transfer, wire = reading.transfer, reading.wire
    is_wired = not np.isnan(wire.rise[at])
    processes = {(member.node, member.global_rank) for one in slow for member in one.communicator.members.values()}
    return Finding(
        culprit=culprit,
        cost_ratio=worst.cost_ratio,
        started_at=min(one.started_at for one in slow),
        victims=len(processes) - len(culprit.ranks),
        evidence={
            **({} if place is None else place.evidence()),
            "comm": worst.communicator.id,
            "times_as_long": round(float(transfer.ratio[at]), 3),
            "excess_seconds": _rounded(reading.excess_seconds[at]),
            "witness": "network steps" if is_wired else "ranks move together",
            "wire_times_as_long": round(float(wire.ratio[at]), 3) if is_wired else None,
            "sigmas_from_own_history": round(float(transfer.sigmas[at]), 2),
            "wire_sigmas_from_own_history": round(float(wire.sigmas[at]), 2) if is_wired else None,
            "cusum": round(worst.cusum, 2),
            "cusum_threshold": round(worst.cusum_threshold, 2),
            "slower_cells_ratio": round(float(reading.cells_ratio[at]), 3),
            "cells": _cells(worst, vocabulary),
            "also_slow": [one.communicator.id for one in others],
        },
    )


def by_cost(slow: Sequence[SlowCommunicator]) -> list[SlowCommunicator]:
    """The most costly first."""
    return sorted(slow, key=lambda one: (-one.cost_ratio, one.communicator.id))


def _cells(slow: SlowCommunicator, vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """The cells of a communicator that take most of its time, with their normal."""
    transfers, normal = slow.transfers, slow.reading.normal_seconds
    mine = np.flatnonzero(transfers.comm == slow.communicator.code)
    order = mine[np.argsort(-(transfers.rate * transfers.shortest_seconds)[mine], kind="stable")]
    return [
        {
            "op": vocabulary.text(transfers.op[cell]),
            "size_bytes": vocabulary.text(transfers.size[cell]),
            "algo": vocabulary.text(transfers.algo[cell]),
            "proto": vocabulary.text(transfers.proto[cell]),
            "transfer_seconds": _rounded(transfers.shortest_seconds[cell]),
            "baseline_transfer_seconds": None if np.isnan(normal[cell]) else _rounded(normal[cell]),
        }
        for cell in order[:_CELLS_SHOWN].tolist()
    ]


def _rounded(seconds: float) -> float:
    """To a tenth of a microsecond."""
    return round(float(seconds), 7)
