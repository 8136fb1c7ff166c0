"""What is remembered of a tick."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Outcome", "TickRecord"]


class Outcome(StrEnum):
    """How a tick went."""

    OK = "ok"
    SOURCE_ERROR = "source_error"
    ERROR = "error"
    ABANDONED = "abandoned"  # it hung


@dataclass(frozen=True)
class TickRecord:
    """`time` is the instant that was looked at (Unix seconds). `error` is empty when all went well."""

    time: float
    outcome: Outcome
    duration_seconds: float
    findings: int
    error: str = ""
