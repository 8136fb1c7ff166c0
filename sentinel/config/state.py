"""The `[state]` section."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["DEFAULT_DIRECTORY", "StateSettings"]

DEFAULT_DIRECTORY = Path("/var/lib/nccl-sentinel")


class StateSettings(BaseModel):
    """Where the state is kept. Deleting it costs memory, never correctness."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    directory: Path = Field(
        default=DEFAULT_DIRECTORY,
        json_schema_extra={"default_from": "STATE_DIRECTORY"},
        description="Directory of the database. Unset: STATE_DIRECTORY as systemd gives it, if it does.",
    )
    keep_ticks: int = Field(
        default=20_000, ge=1, le=10_000_000, description="Ticks that are remembered; older ones are forgotten."
    )
