"""When a link is called slow: the `[detection.slow_link]` table."""

from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sentinel.model.duration import Duration

__all__ = ["SlowLinkSettings"]


class SlowLinkSettings(BaseModel):
    """Network steps of one rank apart from its peers'. Significance and every effect floor have to be met."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(True, description="Whether this verdict is given at all.")
    min_cost_ratio: Annotated[float, Field(ge=0.0, le=1.0)] = Field(
        default=0.01, description="Effect floor: share of the job's time that the link's steps last too long."
    )
    min_excess: Duration = Field(
        default=timedelta(microseconds=20), description="Effect floor: how much longer than its peers' a step lasts."
    )
    min_ratio: float = Field(
        default=1.25,
        gt=1.0,
        description="Effect floor: how many times as long as normal a step lasts, both its own normal and its peers'.",
    )
    noise_floor_ratio: float = Field(
        default=0.05, gt=0.0, description="Spread of the time of a step that is always assumed, as a share of it."
    )
    far_sigmas: float = Field(
        default=6.0,
        gt=0.0,
        description="How far from its peers a link is slow whatever its history, in robust standard deviations …",
    )
    far_ratio: float = Field(
        default=4.0, gt=1.0, description="… and how many times as long as theirs its steps must last then."
    )
    min_steps: int = Field(default=8, ge=1, description="Network steps that a link needs for a tick to count.")
    min_ticks: int = Field(
        default=2,
        ge=1,
        description="Ticks for which the evidence has to hold before an incident opens; one more far from its peers.",
    )
    clear_ticks: int = Field(default=3, ge=1, description="Ticks without evidence after which the incident ends.")
