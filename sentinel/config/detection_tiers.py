"""The `[detection.tiers]` section."""

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field

from sentinel.model.duration import Duration
from sentinel.model.incident import Tier

__all__ = ["TierSettings"]


class TierSettings(BaseModel):
    """The tier that each verdict opens with, and when its cost makes it P1. A tier rises, and never falls."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stalled: Tier = Field(default=Tier.P0, description="Tier of a stalled communicator.")
    rank_missing: Tier = Field(default=Tier.P0, description="Tier of a missing rank.")
    late_rank: Tier = Field(default=Tier.P2, description="Tier of a late rank while it is small.")
    slow_link: Tier = Field(default=Tier.P2, description="Tier of a slow link while it is small.")
    slow_fabric: Tier = Field(default=Tier.P2, description="Tier of a slow fabric while it is small or new.")
    drift: Tier = Field(default=Tier.P2, description="Tier of a drift.")
    imbalance: Tier = Field(default=Tier.P2, description="Tier of an imbalance.")
    p1_cost_ratio: float = Field(
        default=0.05,
        ge=0.0,
        le=1.0,
        description="A late rank or a slow link that costs at least this share of the job's time is P1.",
    )
    p1_after: Duration = Field(
        default=timedelta(0), ge=timedelta(0), description="… once it has cost that much for this long."
    )
    slow_fabric_p1_cost_ratio: float = Field(
        default=0.1,
        ge=0.0,
        le=1.0,
        description="A slow fabric that costs at least this share of the job's time is P1.",
    )
    slow_fabric_p1_after: Duration = Field(
        default=timedelta(minutes=10), ge=timedelta(0), description="… once it has cost that much for this long."
    )
