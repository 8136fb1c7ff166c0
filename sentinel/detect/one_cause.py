"""One incident a culprit: what a slow link explains is not a late rank, and a node is one culprit, not eight."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

from sentinel.measure.membership import Membership
from sentinel.model.incident import CulpritKey, Finding

__all__ = ["merge_nodes", "without_victims"]

# Of the processes of a job on a node: when so many are found, it is the node.
_NODE_SHARE = 0.5
_LEAST_RANKS = 3


def without_victims(
    late: Sequence[Finding], links: Sequence[Finding], slow: Collection[int], membership: Membership
) -> tuple[list[Finding], set[CulpritKey]]:
    """The late ranks that no slow link explains, and the keys of those about whom nothing can be said.

    A slow sender delays the others by their place in the ring, so that durations in its communicator accuse the wrong
    ranks: nobody is called late in the communicators `slow` (codes) while a link there is. A rank whose own link is
    slow is one culprit.
    """
    there = {membership.communicators[comm].id for comm in slow if comm in membership.communicators}
    named = {finding.culprit.key[1:] for finding in links}
    kept, held = [], set[CulpritKey]()
    for finding in late:
        if finding.culprit.key[1:] in named:
            continue
        if finding.culprit.comm in there:
            held.add(finding.culprit.key)
        else:
            kept.append(finding)
    return kept, held


def merge_nodes(findings: Sequence[Finding], membership: Membership) -> list[Finding]:
    """One finding for a node on which half of a job's processes, and three at least, are found for the same reason.

    It names all of the job's ranks there, and carries the evidence of the one that costs most.
    """
    groups: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.culprit.verdict, finding.culprit.job, finding.culprit.node].append(finding)
    merged: list[Finding] = []
    for (_, job, node), group in groups.items():
        members = _ranks_on(node, job, membership) if len(group) >= _LEAST_RANKS else ()
        if len(group) < max(_LEAST_RANKS, _NODE_SHARE * len(members)):
            merged += group
            continue
        worst = max(group, key=lambda finding: (finding.cost_ratio, finding.culprit.ranks))
        ranks = sorted(rank for finding in group for rank in finding.culprit.ranks)
        merged.append(
            replace(
                worst,
                culprit=replace(worst.culprit, ranks=members, gpu=""),
                started_at=min(finding.started_at for finding in group),
                evidence={**worst.evidence, "ranks_found": ranks, "rank_shown": worst.culprit.ranks[0]},
            )
        )
    return merged


def _ranks_on(node: str, job: str, membership: Membership) -> tuple[int, ...]:
    return tuple(
        sorted(
            {
                member.global_rank
                for communicator in membership.communicators.values()
                if communicator.job == job
                for member in communicator.members.values()
                if member.node == node
            }
        )
    )
