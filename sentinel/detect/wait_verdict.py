"""Which of the late ranks' findings stand, once their wait chains are known."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sentinel.detect.wait_chain import Chain, Standing
from sentinel.detect.wait_graph import Node
from sentinel.measure.processes import Process
from sentinel.model.incident import CulpritKey, Finding
from sentinel.model.vocabulary import Vocabulary

__all__ = ["Judged", "judge"]

_RANKS_SHOWN = 16


@dataclass(frozen=True)
class Judged:
    """Findings about roots, and about ranks whose root has not been called for long.

    `held` are the keys of those about whom nothing can be said yet, `victims` of those that are excused.
    """

    findings: tuple[Finding, ...]
    held: frozenset[CulpritKey]
    victims: frozenset[CulpritKey]


def judge(findings: Sequence[Finding], chains: Mapping[Process, Chain], vocabulary: Vocabulary) -> Judged:
    """Sort the findings about late ranks, one a process, by their chains; a finding without a chain stands."""
    victims: dict[Node, list[Chain]] = defaultdict(list)
    for chain in chains.values():
        if chain.standing is Standing.VICTIM:
            victims[chain.path[-1]].append(chain)
    costs = {_process(finding): finding.cost_ratio for finding in findings}
    kept, held, excused = [], set(), set()
    for finding in findings:
        process = _process(finding)
        own = chains.get(process)
        if own is None or own.standing is Standing.ROOT:
            kept.append(_root(finding, victims.get(process, []), costs))
        elif own.standing is Standing.UNRESOLVED:
            kept.append(_annotated(finding, "waits_for", _waits_for(own, vocabulary)))
        elif own.standing is Standing.HELD:
            held.add(finding.culprit.key)
        else:
            excused.add(finding.culprit.key)
    return Judged(tuple(kept), frozenset(held), frozenset(excused))


def _process(finding: Finding) -> Process:
    return (finding.culprit.job, finding.culprit.node, finding.culprit.ranks[0])


def _annotated(finding: Finding, name: str, evidence: Mapping[str, Any]) -> Finding:
    return replace(finding, evidence={**finding.evidence, name: evidence})


def _root(finding: Finding, chains: Sequence[Chain], costs: Mapping[Process, float]) -> Finding:
    """A root's finding with its victims.

    It costs the job what its own communicator waits for it, or what a victim's waits for that one, whichever is more:
    both are the same time, which waits in different places.
    """
    if not chains:
        return finding
    ordered = sorted(chains, key=lambda chain: (len(chain.path), chain.process))
    through = max(costs.get(chain.process, 0.0) for chain in ordered)
    victims = {
        "ranks": len(ordered),
        "first_ranks": [chain.process[2] for chain in ordered[:_RANKS_SHOWN]],
        "least_share_ratio": round(min(chain.share_ratio for chain in ordered), 3),
        "longest_chain": max(len(chain.path) for chain in ordered),
        "cost_ratio_in_own_communicator": round(finding.cost_ratio, 4),
    }
    return replace(_annotated(finding, "late_because_of_it", victims), cost_ratio=max(finding.cost_ratio, through))


def _waits_for(chain: Chain, vocabulary: Vocabulary) -> dict[str, Any]:
    return {
        "chain": [_name(node, vocabulary) for node in chain.path[:_RANKS_SHOWN]],
        "share_ratio": round(chain.share_ratio, 3),
        "reason": "each waits for the next" if chain.cycle else "the last of the chain is not called late itself",
    }


def _name(node: Node, vocabulary: Vocabulary) -> str:
    return f"communicator {vocabulary.text(node)}" if isinstance(node, int) else f"rank {node[2]} on {node[1]}"
