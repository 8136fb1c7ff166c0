"""When a job's pipeline stages are called uneven. `[detection.imbalance]` of the configuration file."""

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["ImbalanceSettings"]


class ImbalanceSettings(BaseModel):
    """Stages that differ from the start: the workload's property, no rank's fault."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(default=False, description="Whether this verdict is given at all.")
    min_skew_ratio: float = Field(
        default=0.1,
        gt=0.0,
        le=1.0,
        description="Share of the job's time that the other stages wait in Recv beyond the one that waits least.",
    )
    start_ticks: int = Field(
        default=5, ge=1, description="A job's first ticks, in all of which the skew has to be there."
    )
    clear_ticks: int = Field(default=3, ge=1, description="Ticks without the skew after which the incident ends.")
