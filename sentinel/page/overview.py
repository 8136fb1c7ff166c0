"""Job by job: is it well, what does it cost, is the data good, is it learnt."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from sentinel.history.moment import CommunicatorMoment, Moment
from sentinel.model.incident import Incident, Tier
from sentinel.model.instant import format_instant
from sentinel.page.facts import Facts
from sentinel.page.incidents import brief_document

__all__ = ["status_document"]

_MOST_COMMUNICATORS: Final = 2000  # of all jobs together: the largest of each
_LEAST_COMMUNICATORS: Final = 4  # of a job
_MOST_JOBS: Final = 500
_HEALTH: Final = {Tier.P0: "critical", Tier.P1: "warning", Tier.P2: "notice"}


def status_document(facts: Facts, moment: Moment | None, now: float) -> dict[str, Any]:
    """The whole of the daemon at the Unix time `now`, as JSON values."""
    quality = moment.quality if moment else None
    going_on = [each for each in moment.incidents if each.ended_at is None] if moment else []
    jobs = _jobs(moment, going_on, ready=not facts.fault) if moment else []
    return {
        "time": format_instant(now),
        "daemon": {
            "version": facts.version,
            "instance": facts.instance,
            "fault": facts.fault,
            "tick_seconds": facts.tick_seconds,
            "last_tick": _instant(facts.last_tick),
            "baseline_built_at": _instant(facts.baseline_built_at),
            "partial_snapshots": facts.partial_snapshots,
            "malformed_series": facts.malformed_series,
            "history_dropped": facts.history_dropped,
            "history_bytes": facts.history_bytes,
        },
        "quality": {
            "judged": bool(moment and moment.judged),
            "partial": bool(quality and quality.partial),
            "warnings": list(quality.warnings) if quality else [],
            "malformed_series": quality.malformed_series if quality else 0,
        },
        "jobs": jobs[:_MOST_JOBS],
        "jobs_left_out": max(0, len(jobs) - _MOST_JOBS),
    }


_Job = tuple[str, str]


def _jobs(moment: Moment, incidents: Sequence[Incident], *, ready: bool) -> list[dict[str, Any]]:
    of_job: dict[_Job, list[Incident]] = {}
    for incident in incidents:
        of_job.setdefault((incident.culprit.job_id, incident.culprit.job), []).append(incident)
    seen: dict[_Job, list[CommunicatorMoment]] = {}
    for each in moment.communicators:
        seen.setdefault((each.job_id, each.job), []).append(each)
    judged = ready and moment.judged
    # A job that is gone may have left an incident that goes on.
    jobs = {**seen, **of_job}
    most = max(_LEAST_COMMUNICATORS, _MOST_COMMUNICATORS // max(1, len(jobs)))
    found = [_job(job, seen.get(job, []), of_job.get(job, []), judged and job in seen, most) for job in jobs]
    return sorted(found, key=lambda each: (-each["cost_ratio"], each["job_id"], each["job"]))


def _job(
    job: _Job, communicators: Sequence[CommunicatorMoment], incidents: Sequence[Incident], judged: bool, most: int
) -> dict[str, Any]:
    states = Counter(each.state for each in communicators)
    job_id, name = job
    expected = sum(max(each.nranks, each.ranks) for each in communicators)
    largest = sorted(communicators, key=lambda each: (-each.ranks, each.comm_name, each.comm))
    return {
        "job_id": job_id,
        "job": name,
        "health": _health(states, incidents, judged),
        "cost_ratio": max((each.cost_ratio for each in incidents), default=0.0),
        "incidents": [brief_document(each) for each in incidents],
        "states": dict(states),
        "ranks_seen_ratio": sum(each.ranks for each in communicators) / expected if expected else 0.0,
        "ranks": max((each.ranks for each in communicators), default=0),
        "communicators_count": len(communicators),
        "communicators": [
            {
                "comm": each.comm,
                "comm_name": each.comm_name,
                "nranks": each.nranks,
                "ranks": each.ranks,
                "state": each.state,
            }
            for each in largest[:most]
        ],
    }


def _health(states: Counter[str], incidents: Sequence[Incident], judged: bool) -> str:
    """The worst that is known; `unknown` where nothing was judged, whatever was so before."""
    if incidents:
        return _HEALTH[min(each.tier for each in incidents)]
    if not judged or not states or set(states) <= {"abstain", "gone", "unknown"}:
        return "unknown"
    if set(states) <= {"paused", "gone"}:
        return "idle"
    if not states["watching"]:
        return "learning"
    return "healthy"


def _instant(time: float | None) -> str | None:
    return format_instant(time) if time else None
