"""Verdicts, what a detector finds at one tick, and the incident that lives over many."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sentinel.model.context import ContextNote, Silence

__all__ = ["Assessment", "Culprit", "CulpritKey", "Finding", "FormerTier", "Incident", "Tier", "Verdict", "cost_basis"]


class Verdict(StrEnum):
    """What is wrong."""

    STALLED = "stalled"
    RANK_MISSING = "rank_missing"
    LATE_RANK = "late_rank"
    SLOW_LINK = "slow_link"
    SLOW_FABRIC = "slow_fabric"
    DRIFT = "drift"
    IMBALANCE = "imbalance"


class Tier(StrEnum):
    """How loudly to say it: P0 pages, P1 is a ticket, P2 waits for the review."""

    P0 = "P0"
    P1 = "P1"
    P2 = "P2"


@dataclass(frozen=True)
class Culprit:
    """Whom a verdict names.

    `ranks` are global ranks, sorted; empty when nobody stands out and the communicator itself is named. `job` tells
    jobs apart also where `job_id` is empty. `comm` is the communicator's id (16 hex digits), which changes at a
    restart.
    """

    verdict: Verdict
    job: str
    job_id: str
    comm: str
    comm_name: str
    ranks: tuple[int, ...]
    node: str
    gpu: str

    @property
    def key(self) -> "CulpritKey":
        """What makes two findings one incident: the same verdict on the same ranks of one job on one node.

        The communicator counts only when no rank is named: a late rank is late in several, and the worst may change.
        """
        return (self.verdict, self.job, self.ranks, self.node if self.ranks else self.comm)


CulpritKey = tuple[Verdict, str, tuple[int, ...], str]


@dataclass(frozen=True)
class Finding:
    """One verdict that holds at one tick.

    `cost_ratio` is a share of the job's time (0 to 1; for a stall, 1). `started_at` is the Unix time at which the
    detector thinks that it began. `evidence` holds JSON values only, with units in its keys.
    """

    culprit: Culprit
    cost_ratio: float
    started_at: float
    victims: int
    evidence: Mapping[str, Any]


def cost_basis(evidence: Mapping[str, Any]) -> str:
    """Of what the cost is a share, in words."""
    return str(evidence.get("cost_is_of", "the job's time"))


@dataclass(frozen=True)
class Assessment:
    """Everything the detectors say about one snapshot.

    `held` are the keys of culprits about which nothing could be said this time (abstention, missing data): an
    incident of theirs goes on, neither confirmed nor ended. `states` tells, by communicator id, which regime it is in
    (`learning`, `watching`, `paused`, `abstain`, …) for metrics and people. `judged` is False when nothing could be
    said about anybody: every incident is held.
    """

    time: float
    findings: tuple[Finding, ...]
    held: frozenset[CulpritKey]
    states: Mapping[str, str]
    judged: bool = True


@dataclass(frozen=True)
class FormerTier:
    """A tier that an incident had before it rose, until a Unix time."""

    tier: Tier
    until: float


@dataclass(frozen=True)
class Incident:
    """A finding with a life. Times are Unix seconds; `ended_at` is None while it goes on.

    `started_at` never changes once the incident exists, nor does anything in `culprit`. The tier may rise, and never
    falls; `former_tiers` are those that it had before, in their order. `recurrences` counts how often it has come back
    after it had ended. `context` are alerts of others that fired where it is, `silenced_by` the silences in
    Alertmanager that mute its alert, as was known last.
    """

    id: str
    culprit: Culprit
    tier: Tier
    started_at: float
    detected_at: float
    ended_at: float | None
    cost_ratio: float
    victims: int
    evidence: Mapping[str, Any]
    former_tiers: tuple[FormerTier, ...] = ()
    recurrences: int = 0
    context: tuple[ContextNote, ...] = ()
    silenced_by: tuple[Silence, ...] = ()
