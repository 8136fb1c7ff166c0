"""The `[page]` section."""

from datetime import timedelta

from pydantic import BaseModel, ByteSize, ConfigDict, Field

from sentinel.model.duration import Duration

__all__ = ["PageSettings"]


class PageSettings(BaseModel):
    """What the status page shows of the past. It is kept in the state directory, in a file of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep: Duration = Field(
        default=timedelta(hours=24),
        ge=timedelta(hours=1),
        le=timedelta(days=7),
        description="How far back lateness and durations by rank are shown, in bins of 5m; the last hour tick by tick.",
    )
    max_history: ByteSize = Field(
        default=ByteSize(64 << 20),
        ge=1 << 20,
        description="Memory that this may take; past it the oldest goes. A day of 1,024 ranks in four communicators "
        "takes 20MiB.",
    )
