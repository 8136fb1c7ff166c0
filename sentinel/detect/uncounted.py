"""Findings from metrics that have neither ranks nor counts: without what only those can tell."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sentinel.model.incident import Finding

__all__ = ["without_counts"]

# Numbers that stand for ranks and counts there, so that what is compared can be compared.
_MADE_UP = frozenset(
    {"rank", "ranks_found", "rank_in_communicator", "rank_shown", "first_ranks", "operations", "lost_gpus"}
)


def without_counts(finding: Finding) -> Finding:
    """The same finding; its evidence says of what its cost is a share, and has nothing that nobody counted."""
    evidence = {**_told(finding.evidence), "cost_is_of": "the time inside its communicator's collectives"}
    return replace(finding, evidence=evidence)


def _told(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _told(each) for key, each in value.items() if key not in _MADE_UP}
    return [_told(each) for each in value] if isinstance(value, list) else value
