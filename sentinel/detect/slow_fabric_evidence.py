"""Why a fabric is called slow, in numbers that a person can check."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sentinel.detect.culprit import culprit_of
from sentinel.detect.fabric_history import FabricReading
from sentinel.measure.membership import Membership
from sentinel.measure.transfers import Transfers
from sentinel.model.incident import Culprit, Finding, Verdict
from sentinel.model.vocabulary import Vocabulary

__all__ = ["SlowCommunicator", "slow_fabric_finding"]

_CELLS_SHOWN = 4


@dataclass(frozen=True)
class SlowCommunicator:
    """A communicator whose alarm stands. `place` is its row in the reading."""

    comm: int
    cost_ratio: float  # mean over the run
    started_at: float
    reading: FabricReading
    place: int
    transfers: Transfers
    cusum: float
    cusum_threshold: float


def slow_fabric_finding(
    slow: Sequence[SlowCommunicator], named: Culprit | None, membership: Membership, vocabulary: Vocabulary
) -> Finding:
    """The finding about one job, from its slow communicators, under the name that it has been given already.

    Communicators may work at the same time, so their costs are not added.
    """
    worst, *others = sorted(slow, key=lambda one: (-one.cost_ratio, vocabulary.text(one.comm)))
    communicator = membership.communicators[worst.comm]
    reading, place = worst.reading, worst.place
    wire = reading.wire_ratio[place]
    processes = {
        (member.node, member.global_rank)
        for one in slow
        for member in membership.communicators[one.comm].members.values()
    }
    return Finding(
        culprit=named or culprit_of(Verdict.SLOW_FABRIC, communicator),
        cost_ratio=worst.cost_ratio,
        started_at=min(one.started_at for one in slow),
        victims=len(processes),
        evidence={
            "comm": communicator.id,
            "times_as_long": round(float(reading.ratio[place]), 3),
            "excess_seconds": _rounded(reading.excess_seconds[place]),
            "witness": "ranks move together" if np.isnan(wire) else "network steps",
            "wire_times_as_long": None if np.isnan(wire) else round(float(wire), 3),
            "sigmas_from_own_history": round(float(reading.sigmas[place]), 2),
            "wire_sigmas_from_own_history": None if np.isnan(wire) else round(float(reading.wire_sigmas[place]), 2),
            "cusum": round(worst.cusum, 2),
            "cusum_threshold": round(worst.cusum_threshold, 2),
            "slower_cells_ratio": round(float(reading.cells_ratio[place]), 3),
            "cells": _cells(worst, vocabulary),
            "also_slow": [vocabulary.text(one.comm) for one in others],
        },
    )


def _cells(slow: SlowCommunicator, vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """The cells of a communicator that take most of its time, with their normal."""
    transfers, normal = slow.transfers, slow.reading.normal_seconds
    mine = np.flatnonzero(transfers.comm == slow.comm)
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
