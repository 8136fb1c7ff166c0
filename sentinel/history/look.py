"""What one tick hands over."""

from dataclasses import dataclass

from sentinel.measure.lateness import Lateness
from sentinel.model.incident import Assessment, Incident
from sentinel.model.snapshot import Snapshot

__all__ = ["Look"]


@dataclass(frozen=True)
class Look:
    """A snapshot, what was thought of it, and the incidents after it. Without `lateness` nothing could be measured."""

    snapshot: Snapshot
    assessment: Assessment
    lateness: Lateness | None
    incidents: tuple[Incident, ...]
