"""One incident a culprit: what a slow link explains is not a late rank, and a node is one culprit, not eight."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

from sentinel.measure.membership import Membership
from sentinel.model.incident import CulpritKey, Finding

__all__ = ["NodeMerge", "ranks_on", "without_victims"]

# Of the processes of a job on a node: when so many are found, it is the node.
_NODE_SHARE = 0.5
_LEAST_RANKS = 3
_NODE_TICKS = 10  # for which a node that was named may show nobody, and is still named if somebody comes back


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


class NodeMerge:
    """One finding for a node on which half of a job's processes, and three at least, are found for the same reason.

    It names all of the job's ranks there, and carries the evidence of the one that costs most. A node that was named is
    named until nobody there is found any more: its ranks' alarms do not end at once.
    """

    def __init__(self) -> None:
        self._absent: dict[tuple[str, str, str], int] = {}  # ticks without a finding, of the nodes that are named

    def step(self, findings: Sequence[Finding], membership: Membership) -> list[Finding]:
        """The findings of one tick, merged."""
        groups: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
        for finding in findings:
            groups[finding.culprit.verdict, finding.culprit.job, finding.culprit.node].append(finding)
        self._absent = {
            key: 0 if key in groups else ticks + 1 for key, ticks in self._absent.items() if ticks < _NODE_TICKS
        }
        merged: list[Finding] = []
        for key, group in groups.items():
            _, job, node = key
            is_named = key in self._absent
            members = ranks_on(node, job, membership) if is_named or len(group) >= _LEAST_RANKS else ()
            if is_named or len(group) >= max(_LEAST_RANKS, _NODE_SHARE * len(members)):
                self._absent[key] = 0
                merged.append(_of_node(group, members))
            else:
                merged += group
        return merged


def _of_node(group: Sequence[Finding], members: tuple[int, ...]) -> Finding:
    worst = max(group, key=lambda finding: (finding.cost_ratio, finding.culprit.ranks))
    ranks = sorted(rank for finding in group for rank in finding.culprit.ranks)
    return replace(
        worst,
        culprit=replace(worst.culprit, ranks=members, gpu=""),
        started_at=min(finding.started_at for finding in group),
        evidence={**worst.evidence, "ranks_found": ranks, "rank_shown": worst.culprit.ranks[0]},
    )


def ranks_on(node: str, job: str, membership: Membership) -> tuple[int, ...]:
    """Global ranks of a job's processes on a node, sorted."""
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
