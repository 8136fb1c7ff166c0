"""What the daemon knows of itself."""

from dataclasses import dataclass

__all__ = ["Facts"]


@dataclass(frozen=True)
class Facts:
    """`fault`: why it is not ready; empty where it is. Times are Unix seconds, None: never.

    `partial_snapshots` and `malformed_series` are counted since its start, `history_dropped` what the page lacks.
    """

    version: str
    instance: str
    fault: str
    tick_seconds: float
    last_tick: float | None
    baseline_built_at: float | None
    partial_snapshots: int
    malformed_series: int
    history_dropped: int
    history_bytes: int
