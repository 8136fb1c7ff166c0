"""Incidents to test with."""

from dataclasses import replace

from sentinel.model.incident import Culprit, Incident, Tier, Verdict

CULPRIT = Culprit(
    verdict=Verdict.LATE_RANK,
    job="job",
    job_id="4711",
    comm="00000000000000aa",
    comm_name="dp",
    ranks=(3,),
    node="node0",
    gpu="3",
)
INCIDENT = Incident(
    id="7611f548bd54",
    culprit=CULPRIT,
    tier=Tier.P1,
    started_at=1_795_980_960.5,
    detected_at=1_795_981_020.0,
    ended_at=None,
    cost_ratio=0.0909,
    victims=7,
    evidence={
        "lateness_seconds": 0.001,
        "peers_duration_seconds": 0.002,
        "cells": [{"op": "AllReduce"}],
        "test": "CUSUM",
    },
)


def incident(id_: str = INCIDENT.id, *, ranks: tuple[int, ...] = (3,), **changes: object) -> Incident:
    """One like it, with changes; another rank is another culprit."""
    return replace(INCIDENT, id=id_, culprit=replace(CULPRIT, ranks=ranks), **changes)
