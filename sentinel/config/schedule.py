"""The `[schedule]` section."""

from datetime import timedelta
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sentinel.model.duration import Duration

__all__ = ["ScheduleSettings"]


class ScheduleSettings(BaseModel):
    """When ticks happen. They are aligned to multiples of `tick` on the Unix clock."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tick: Duration = Field(
        default=timedelta(seconds=30),
        ge=timedelta(seconds=1),
        le=timedelta(hours=1),
        description="Time between two looks at the series. No shorter than the scrape interval.",
    )
    evaluation_delay: Duration = Field(
        default=timedelta(seconds=5),
        ge=timedelta(0),
        le=timedelta(minutes=10),
        description="How long after its instant a tick looks, so that scrapes and remote writes have arrived.",
    )
    prime_ticks: int = Field(
        default=20, ge=0, le=10_000, description="Ticks of history replayed at the start, to warm the detectors up."
    )
    catch_up_ticks: int = Field(
        default=20,
        ge=1,
        le=10_000,
        description="Missed ticks that are made up for, at most, when the server answers again.",
    )

    deadline: Duration | None = Field(
        default=None,
        ge=timedelta(seconds=1),
        description="How long looking at one instant may take before it is abandoned. Unset: two ticks, at least 1m.",
    )

    @property
    def deadline_seconds(self) -> float:
        """The deadline that is meant."""
        return (self.deadline or max(2 * self.tick, timedelta(minutes=1))).total_seconds()

    @model_validator(mode="after")
    def _whole_milliseconds(self) -> Self:
        # Prometheus keeps time in milliseconds; a finer tick would drift against it.
        if self.tick % timedelta(milliseconds=1):
            raise ValueError("tick is a whole number of milliseconds")
        return self
