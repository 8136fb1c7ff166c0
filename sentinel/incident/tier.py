"""How loudly a finding is said."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from sentinel.config.detection import TierSettings
from sentinel.model.incident import Finding, Tier, Verdict

__all__ = ["is_large", "louder", "tier_of"]

_BY_COST: Final[Mapping[Verdict, tuple[str, str]]] = {
    Verdict.LATE_RANK: ("p1_cost_ratio", "p1_after"),
    Verdict.SLOW_LINK: ("p1_cost_ratio", "p1_after"),
    Verdict.SLOW_FABRIC: ("slow_fabric_p1_cost_ratio", "slow_fabric_p1_after"),
}
"""The settings by which a verdict's cost, and for how long it has been so, make it P1; the others' tier is fixed."""


def is_large(finding: Finding, settings: TierSettings) -> bool:
    """Whether it costs as much as a P1 does."""
    names = _BY_COST.get(finding.culprit.verdict)
    return names is not None and finding.cost_ratio >= getattr(settings, names[0])


def tier_of(finding: Finding, large_seconds: float, settings: TierSettings) -> Tier:
    """The verdict's tier, or P1 where that is louder and it has been large for `large_seconds`, long enough."""
    verdict = finding.culprit.verdict
    tier: Tier = getattr(settings, verdict.value)
    if not is_large(finding, settings):
        return tier
    after: timedelta = getattr(settings, _BY_COST[verdict][1])
    return louder(tier, Tier.P1) if large_seconds >= after.total_seconds() else tier


def louder(one: Tier, other: Tier) -> Tier:
    """The more urgent of two: P0 before P1 before P2."""
    return min(one, other, key=list(Tier).index)
