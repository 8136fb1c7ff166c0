"""What else is known where the jobs run: alerts of others, and silences of our own alerts."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["ContextAlert", "ContextNote", "Effect", "Silence"]


class Effect(StrEnum):
    """What an alert of others does where it fires. Each does what those before it do as well."""

    NOTE = "note"  # incidents there say that it fired
    FREEZE = "freeze"  # nothing is learnt there
    SILENCE = "silence"  # no incident is opened there, and none ends

    @property
    def freezes(self) -> bool:
        """Whether nothing is learnt where it fires."""
        return self is not Effect.NOTE

    @property
    def silences(self) -> bool:
        """Whether no incident is opened where it fires."""
        return self is Effect.SILENCE


@dataclass(frozen=True)
class ContextAlert:
    """An alert of others that fires. Times are Unix seconds; `received_at` is when Alertmanager last said so."""

    labels: Mapping[str, str]
    starts_at: float
    received_at: float


@dataclass(frozen=True)
class ContextNote:
    """An alert of others, as an incident keeps it. Times are Unix seconds; `ended_at` is None while it fires."""

    effect: Effect
    labels: Mapping[str, str]
    started_at: float
    ended_at: float | None = None

    @property
    def name(self) -> str:
        """Its alert name; empty where it has none."""
        return self.labels.get("alertname", "")


@dataclass(frozen=True)
class Silence:
    """A silence in Alertmanager that mutes an incident's alert until the Unix time `ends_at`."""

    id: str
    created_by: str
    comment: str
    ends_at: float
