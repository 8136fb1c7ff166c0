"""The `[baseline]` section."""

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field

from sentinel.model.duration import Duration

__all__ = ["HistorySettings"]


class HistorySettings(BaseModel):
    """What a baseline is built from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    range: Duration = Field(
        default=timedelta(days=7), gt=timedelta(0), description="History that `baseline build` reads without --from."
    )
