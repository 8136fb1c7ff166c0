"""The `[page]` section."""

from datetime import timedelta

from pydantic import BaseModel, ByteSize, ConfigDict, Field

from sentinel.model.duration import Duration

__all__ = ["PageSettings"]


class PageSettings(BaseModel):
    """What the status page shows of the past. The last hour is in memory, all is in a file in the state directory."""

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
        description="Memory that the last hour's ticks may take, and room in the file that all of it may take; past "
        "either the oldest goes, in the file bins before ticks. The file does not shrink. 1,024 ranks in four "
        "communicators at a tick of 30s take 6MiB of memory, and 21MiB of the file for a day.",
    )
