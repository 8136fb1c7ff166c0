"""When a slow trend is called a drift: the `[detection.drift]` table."""

from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sentinel.model.duration import Duration

__all__ = ["DriftSettings"]

Ratio = Annotated[float, Field(ge=0.0, le=1.0)]


class DriftSettings(BaseModel):
    """A rank that gets later, or a communicator whose transfers get longer, by little and little."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(default=True, description="Whether this verdict is given at all.")
    horizon: Duration = Field(
        default=timedelta(hours=6),
        ge=timedelta(minutes=10),
        description="Time over which a trend is looked for, in 64 blocks, and to which it is projected.",
    )
    min_rise_ratio: Ratio = Field(
        default=0.005, description="Effect floor: by how much of the job's time it has risen since it began."
    )
    min_projected_ratio: Ratio = Field(
        default=0.02, description="Effect floor: by how much of the job's time it rises over the horizon at this slope."
    )
    clear_ticks: int = Field(default=3, ge=1, description="Ticks without evidence after which the incident ends.")
