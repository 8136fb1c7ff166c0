"""When a fabric is called slow: the `[detection.slow_fabric]` table."""

from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sentinel.model.duration import Duration

__all__ = ["SlowFabricSettings"]


class SlowFabricSettings(BaseModel):
    """A communicator's transfers above their normal, no single rank apart. All of it has to be met."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(True, description="Whether this verdict is given at all.")
    min_cost_ratio: Annotated[float, Field(ge=0.0, le=1.0)] = Field(
        default=0.01, description="Effect floor: share of the job's time by which transfers are longer than normal."
    )
    min_excess: Duration = Field(
        default=timedelta(microseconds=20), description="Effect floor: how much longer an operation's transfer lasts."
    )
    min_ratio: float = Field(
        default=1.05, gt=1.0, description="Effect floor: how many times as long as normal a transfer lasts."
    )
    noise_floor_ratio: float = Field(
        default=0.02, gt=0.0, description="Spread of a transfer that is always assumed, as a share of it."
    )
    min_cells_ratio: Annotated[float, Field(gt=0.0, le=1.0)] = Field(
        default=0.75, description="Share of a communicator's transfer time that cells with slower transfers make up."
    )
    min_ticks: int = Field(default=2, ge=1, description="Ticks for which it has to hold before an incident opens.")
    clear_ticks: int = Field(default=3, ge=1, description="Ticks without evidence after which the incident ends.")
