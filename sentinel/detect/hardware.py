"""Whether a fault stays with the GPU, the node or the rank when a job restarts or its ranks move."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sentinel.measure.membership import Membership
from sentinel.model.incident import CulpritKey, Finding, Incident, Verdict
from sentinel.model.instant import format_instant

__all__ = ["REMEMBERED_SECONDS", "HardwareMemory"]

_OF_RANKS = frozenset({Verdict.LATE_RANK, Verdict.SLOW_LINK, Verdict.DRIFT, Verdict.RANK_MISSING, Verdict.STALLED})
REMEMBERED_SECONDS = 30 * 86_400.0  # since it was last found
_KEPT = 1024  # the newest; a bound for what hostile data can make
_TELLING = ("gpu", "rank", "node")  # a GPU tells more than a rank, and that more than a node, on which there are many

_Key = tuple[CulpritKey, str]  # culprit and communicator


@dataclass(frozen=True)
class _Past:
    """One culprit, where it was and when it was first and last found (Unix seconds)."""

    verdict: Verdict
    job: str
    comm: str
    comm_name: str
    rank: int
    node: str
    gpu: str
    gpu_uuid: str
    started_at: float
    found_at: float

    def same_gpu(self, other: "_Past") -> bool:
        """By its UUID; where one of them has none, by its place in the node."""
        if self.gpu_uuid and other.gpu_uuid:
            return self.gpu_uuid == other.gpu_uuid
        return self.same_node(other) and bool(self.gpu) and self.gpu == other.gpu

    def same_node(self, other: "_Past") -> bool:
        return bool(self.node) and self.node == other.node

    def same_rank(self, other: "_Past") -> bool:
        """The same global rank of the same job, by its name: without one a restart is another job."""
        return self.job == other.job and self.rank == other.rank


class HardwareMemory:
    """Remembers who was named, and where it ran.

    A finding is compared with those of earlier runs: found before its communicator was first seen, in one that is there
    no more (ids change at a restart):

    - the GPU, which another rank runs on now, or another job: it follows the GPU;
    - the node alone, with another GPU and rank: it follows the node;
    - the rank alone, on another node: it follows the rank;
    - all the same, or rank and node: nothing has moved that would tell, but it was there before.

    Only findings that name one rank are remembered, for 30 days. After a restart of the daemon `recall` brings back
    what is stored.
    """

    def __init__(self) -> None:
        self._past: dict[_Key, _Past] = {}  # the newest last
        self._current: dict[CulpritKey, tuple[str, dict[str, Any]]] = {}  # communicator, and what was said of it
        self._membership = Membership({})
        self._first_seen: dict[str, float] = {}  # of communicators that are there

    def recall(self, incidents: Iterable[Incident]) -> None:
        """Earlier incidents, in the order of their start; what they say of themselves stays said."""
        for incident in incidents:
            culprit, evidence = incident.culprit, incident.evidence
            finding = Finding(culprit, incident.cost_ratio, incident.started_at, incident.victims, evidence)
            past = _past(finding, incident.ended_at or incident.detected_at)
            if past is not None:
                self._remember((culprit.key, culprit.comm), past)
                if "follows" in evidence:
                    said = {name: evidence[name] for name in ("follows", "earlier") if name in evidence}
                    self._current[culprit.key] = (culprit.comm, said)

    def step(self, findings: Sequence[Finding], membership: Membership, now: float) -> list[Finding]:
        """The findings of a tick at the Unix time `now`, each with `follows` and, if there was one, `earlier`.

        `follows` is gpu, node, rank or None; `earlier` is the record that shows it, else the newest of that GPU, node
        or rank. What is said of a finding at first stays, as long as the communicator is there.
        """
        if membership is not self._membership:
            self._membership = membership
            ids = (each.id for each in membership.communicators.values())
            self._first_seen = {id_: self._first_seen.get(id_, now) for id_ in ids}
        return [self._annotated(finding, now) for finding in findings]

    def _annotated(self, finding: Finding, now: float) -> Finding:
        past = _past(finding, now)
        if past is None:
            return finding
        culprit = finding.culprit.key
        comm, said = self._current.get(culprit, ("", {}))
        if comm not in self._first_seen:
            comm, said = past.comm, self._comparison(past)
            self._current[culprit] = (comm, said)
        earlier = self._past.get((culprit, comm))
        self._remember((culprit, comm), past if earlier is None else replace(earlier, found_at=now))
        return replace(finding, evidence={**finding.evidence, **said})

    def _comparison(self, now: _Past) -> dict[str, Any]:
        follows, shown = None, None
        began = self._first_seen.get(now.comm, now.found_at)
        for earlier in reversed(self._past.values()):
            if earlier.comm in self._first_seen or earlier.found_at > began:
                continue
            told = _follows(earlier, now)
            if told and (follows is None or _TELLING.index(told) < _TELLING.index(follows)):
                follows, shown = told, earlier
            elif shown is None and (earlier.same_gpu(now) or earlier.same_node(now) or earlier.same_rank(now)):
                shown = earlier
        return {"follows": follows} if shown is None else {"follows": follows, "earlier": _record(shown)}

    def _remember(self, key: _Key, past: _Past) -> None:
        self._past.pop(key, None)
        self._past[key] = past
        oldest = next(iter(self._past))
        while len(self._past) > _KEPT or past.found_at - self._past[oldest].found_at > REMEMBERED_SECONDS:
            del self._past[oldest]
            if self._current.get(oldest[0], ("",))[0] == oldest[1]:
                del self._current[oldest[0]]
            oldest = next(iter(self._past))


def _past(finding: Finding, now: float) -> _Past | None:
    culprit = finding.culprit
    if culprit.verdict not in _OF_RANKS or len(culprit.ranks) != 1:
        return None
    uuid = finding.evidence.get("gpu_uuid", "")
    return _Past(
        verdict=culprit.verdict,
        job=culprit.job_id or culprit.job,
        comm=culprit.comm,
        comm_name=culprit.comm_name,
        rank=culprit.ranks[0],
        node=culprit.node,
        gpu=culprit.gpu,
        gpu_uuid=uuid if isinstance(uuid, str) else "",
        started_at=finding.started_at,
        found_at=now,
    )


def _follows(earlier: _Past, now: _Past) -> str | None:
    gpu, node, rank = earlier.same_gpu(now), earlier.same_node(now), earlier.same_rank(now)
    if gpu:
        return None if rank else "gpu"
    if rank:
        return None if node else "rank"
    return "node" if node else None


def _record(past: _Past) -> dict[str, Any]:
    return {
        "verdict": past.verdict.value,
        "job_id": past.job,
        "comm_name": past.comm_name,
        "rank": past.rank,
        "node": past.node,
        "gpu": past.gpu,
        "gpu_uuid": past.gpu_uuid,
        "started_at": format_instant(past.started_at),
    }
