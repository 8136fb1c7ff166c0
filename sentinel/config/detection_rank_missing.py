"""When a rank is called missing: the `[detection.rank_missing]` table."""

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field

from sentinel.model.duration import Duration

__all__ = ["RankMissingSettings"]


class RankMissingSettings(BaseModel):
    """A rank's series are gone, its exporter answers, its peers are there and finish nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = Field(default=True, description="Whether this verdict is given at all.")
    missing_scrapes: int = Field(
        default=2,
        ge=1,
        description="Scrapes of its exporter, seen at as many ticks, without the rank while its peers wait in flight.",
    )
    missing_after: Duration = Field(
        default=timedelta(seconds=60),
        ge=timedelta(0),
        description=(
            "For how long it has to be gone where nothing is known to be in flight: a job that ends looks like that "
            "while its ranks leave one after the other."
        ),
    )
    clear_ticks: int = Field(default=1, ge=1, description="Ticks with the rank back after which the incident ends.")
