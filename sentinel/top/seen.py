"""What is known of the daemon at a moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sentinel.top.answers import Incidents, Ranking, Status, Story

__all__ = ["Seen", "Wants"]


@dataclass(frozen=True)
class Wants:
    """What is looked at: communicators by id, in the order in which they are asked for, and an incident."""

    comms: tuple[str, ...] = ()
    incident: str = ""


@dataclass(frozen=True)
class Seen:
    """Answers of the API. In the place of one there may be why there is none.

    `fault` says why the newest question was not answered, else empty; then all is as it was at `at`, on the clock of
    whoever asks, in seconds. `read_at`: as of which tick of the daemon rankings and incidents are, Unix seconds.
    """

    at: float = 0.0
    status: Status | None = None
    incidents: Incidents | None = None
    rankings: Mapping[str, Ranking | str] = field(default_factory=dict)
    stories: Mapping[str, Story | str] = field(default_factory=dict)
    fault: str = ""
