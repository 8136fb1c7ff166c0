"""Why a rank is called late, in numbers that a person can check."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sentinel.detect.culprit import culprit_of
from sentinel.detect.late_rank import LateSeries
from sentinel.detect.own_history import Reference
from sentinel.detect.pool import Pairs
from sentinel.measure.lateness import Lateness
from sentinel.measure.membership import Communicator, Member
from sentinel.model.incident import Finding, Verdict
from sentinel.model.vocabulary import Vocabulary

__all__ = ["late_finding"]

_CELLS_SHOWN = 4


def late_finding(
    worst: LateSeries,
    others: Sequence[LateSeries],
    communicator: Communicator,
    member: Member,
    lateness: Lateness,
    reference: Reference,
    pairs: Pairs,
    vocabulary: Vocabulary,
) -> Finding:
    """The finding about one rank: the communicator in which it costs most, and the others in which it is late too.

    Communicators may overlap in time, so their costs are not added.
    """
    rows = pairs.place[pairs.of_place == worst.pair]
    cells = _cells(rows, lateness, reference, vocabulary)
    leading = cells[0]
    return Finding(
        culprit=culprit_of(Verdict.LATE_RANK, communicator, [member]),
        cost_ratio=worst.cost_ratio,
        started_at=min(series.started_at for series in (worst, *others)),
        victims=len(communicator.members) - 1,
        evidence={
            "rank_in_communicator": worst.rank,
            "gpu_uuid": member.gpu_uuid,
            "lateness_seconds": leading["lateness_seconds"],
            "duration_seconds": leading["duration_seconds"],
            "peers_duration_seconds": leading["peers_duration_seconds"],
            "lost_gpus": round(worst.cost_ratio * (len(communicator.members) - 1), 2),
            **worst.statistics,
            "shown_by": "all of its cells together" if worst.cell is None else _name(worst.cell, lateness, vocabulary),
            "cells": cells,
            "also_late_in": [vocabulary.text(series.comm) for series in others],
        },
    )


def _cells(
    rows: "np.ndarray[Any, Any]", lateness: Lateness, reference: Reference, vocabulary: Vocabulary
) -> list[dict[str, Any]]:
    """The cells that cost most, most costly first; at least one. By arithmetic means, which subtract and add up."""
    normal = np.nan_to_num(reference.wait_seconds[rows])
    cost = (lateness.wait_seconds[rows] - normal) * lateness.rate[rows]
    shown = []
    for place in rows[np.argsort(-cost, kind="stable")][:_CELLS_SHOWN].tolist():
        known = bool(reference.known[place])
        shown.append(
            {
                "op": vocabulary.text(lateness.op[place]),
                "size_bytes": vocabulary.text(lateness.size[place]),
                "algo": vocabulary.text(lateness.algo[place]),
                "proto": vocabulary.text(lateness.proto[place]),
                "operations": round(float(lateness.operations[place])),
                "duration_seconds": _rounded(lateness.mean_seconds[place]),
                "peers_duration_seconds": _rounded(lateness.peers_seconds[place]),
                "lateness_seconds": _rounded(lateness.wait_seconds[place]),
                "baseline_lateness_seconds": _rounded(reference.wait_seconds[place]) if known else None,
                "baseline_spread_seconds": _rounded(reference.wait_spread_seconds[place]) if known else None,
            }
        )
    return shown


def _name(place: int, lateness: Lateness, vocabulary: Vocabulary) -> str:
    """A cell as people name it: operation, bytes, algorithm, protocol."""
    labels = (lateness.op, lateness.size, lateness.algo, lateness.proto)
    return " ".join(text for text in (vocabulary.text(label[place]) for label in labels) if text)


def _rounded(seconds: float) -> float:
    """To a tenth of a microsecond."""
    return round(float(seconds), 7)
