"""How loudly a finding is said."""

from sentinel.config.detection import TierSettings
from sentinel.model.incident import Finding, Tier, Verdict

__all__ = ["tier_of"]

_INTERRUPTIONS = frozenset({Verdict.STALLED, Verdict.RANK_MISSING})


def tier_of(finding: Finding, settings: TierSettings) -> Tier:
    """P0 for an interruption; else P1 from `p1_cost_ratio` up and P2 below it."""
    if finding.culprit.verdict in _INTERRUPTIONS:
        return Tier.P0
    return Tier.P1 if finding.cost_ratio >= settings.p1_cost_ratio else Tier.P2
