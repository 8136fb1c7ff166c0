"""A dead rank and the stall that it causes are one incident."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from sentinel.detect.rank_missing import MissingReading
from sentinel.model.incident import CulpritKey, Finding

__all__ = ["StallMerge"]

_TAKEN_OVER = ("stalled_seconds", "waiting_ranks", "operations_behind")


class StallMerge:
    """Takes the stalls and the missing ranks of a tick, and leaves one finding for each cause.

    - A rank is missing: the stall of its job is its doing, and becomes evidence.
    - It is not decided yet: a stall of that job that was not told yet waits until it is, which takes some scrapes.
    - The stall was told before and names the rank, which has died since, others or not: the stall goes on, with that.
    - The stall was told before and names somebody else who is there: both stand. One that named nobody gives way.
    """

    def __init__(self) -> None:
        self._told: set[CulpritKey] = set()  # stalls that were given as findings, and missing ranks

    def step(
        self, stalls: Sequence[Finding], missing: MissingReading, standing: AbstractSet[CulpritKey]
    ) -> tuple[list[Finding], list[Finding]]:
        """The stalls and the missing ranks to be told. `standing` are the keys of all that still are, held or found."""
        self._told &= standing
        by_job = {finding.culprit.job: finding for finding in missing.findings}
        kept = []
        for stall in stalls:
            job, told = stall.culprit.job, stall.culprit.key in self._told
            lost = by_job.get(job)
            if lost is None:
                if told or job not in missing.pending:
                    kept.append(stall)
            elif told and stall.culprit.ranks and lost.culprit.key not in self._told:
                kept.append(_with(stall, {"missing_ranks_named": list(lost.culprit.ranks)}))
                if set(lost.culprit.ranks) & set(stall.culprit.ranks):
                    del by_job[job]
            elif told and stall.culprit.ranks and not set(stall.culprit.ranks) <= set(lost.culprit.ranks):
                kept.append(stall)
            else:
                taken = {name: stall.evidence[name] for name in _TAKEN_OVER if name in stall.evidence}
                by_job[job] = replace(_with(lost, taken), victims=max(lost.victims, stall.victims))
        found = list(by_job.values())
        self._told |= {finding.culprit.key for finding in (*kept, *found)}
        return kept, found


def _with(finding: Finding, evidence: dict[str, Any]) -> Finding:
    return replace(finding, evidence={**finding.evidence, **evidence})
