"""Whose metrics are read, and which verdicts they can bear."""

from collections.abc import Mapping
from enum import StrEnum

from sentinel.config.detection import DetectionSettings, VerdictSettings
from sentinel.config.metrics_dialect import Dialect

__all__ = ["MISSING_EVIDENCE", "refused_notes", "without_refused"]


class Refused(StrEnum):
    """Sections of verdicts that NVIDIA Inspector's metrics cannot bear."""

    STALLED = "stalled"
    RANK_MISSING = "rank_missing"
    SLOW_LINK = "slow_link"
    IMBALANCE = "imbalance"


MISSING_EVIDENCE: Mapping[Refused, str] = {
    Refused.STALLED: "nothing tells what was launched or is in flight, and a file keeps its last values",
    Refused.RANK_MISSING: "a file outlives its process, and no exporter says that it would know",
    Refused.SLOW_LINK: "there are no network steps",
    Refused.IMBALANCE: "there is no peer of a Send or Recv",
}


def without_refused(detection: DetectionSettings, dialect: Dialect) -> DetectionSettings:
    """The same, with the verdicts off that the dialect cannot bear, whatever the file or a job's table says."""
    if dialect is not Dialect.INSPECTOR:
        return detection
    jobs = tuple(job.model_copy(update=_off(job)) for job in detection.jobs)
    return detection.model_copy(update={**_off(detection), "jobs": jobs})


def refused_notes(dialect: Dialect) -> tuple[str, ...]:
    """What cannot be had and why, a sentence each; nothing for our own metrics."""
    if dialect is not Dialect.INSPECTOR:
        return ()
    return (
        *(f"no {verdict.value}: {why}" for verdict, why in MISSING_EVIDENCE.items()),
        "no rank: node and GPU are named instead",
        "no counts: cost is a share of the time inside a communicator's collectives, not of the job's time",
        "no waits by peer: in a pipeline a rank that is late because it waited in Recv may be named",
    )


def _off(settings: VerdictSettings) -> dict[str, object]:
    return {
        refused.value: getattr(settings, refused.value).model_copy(update={"enabled": False})
        for refused in MISSING_EVIDENCE
    }
