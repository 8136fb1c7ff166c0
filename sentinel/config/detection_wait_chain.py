"""How far a late rank's own waiting excuses it. `[detection.wait_chain]` of the configuration file."""

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["WaitChainSettings"]


class WaitChainSettings(BaseModel):
    """When a late rank is the victim of another."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(
        default=True, description="Whether late ranks are excused by what they waited for; else each is accused."
    )
    min_share_ratio: float = Field(
        default=0.5,
        gt=0.0,
        le=1.0,
        description="Share of its lateness that a rank's own waiting has to explain for it to be a victim.",
    )
    hold_ticks: int = Field(
        default=10,
        ge=0,
        description="Ticks for which a victim is not accused while the rank that it waits for is not called late.",
    )
