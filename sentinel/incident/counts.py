"""What an incident's tracker counts from tick to tick."""

from dataclasses import dataclass, field, replace

from sentinel.model.incident import CulpritKey

__all__ = ["Clear", "Counts"]


@dataclass(frozen=True)
class Clear:
    """Ticks without evidence, in a row: when the first and the last were, how many, and the time that they cover."""

    since: float
    last: float
    ticks: int = 0
    seconds: float = 0.0

    def and_one_of(self, seconds: float, now: float) -> "Clear":
        """The row with one tick more, that covers some seconds."""
        return replace(self, last=now, ticks=self.ticks + 1, seconds=self.seconds + seconds)


@dataclass
class Counts:
    """By culprit, in Unix seconds.

    `present` is when its communicator was last there, or was first looked for; `silenced` are the findings of the last
    tick that opened nothing; `time` is that tick's.
    """

    clear: dict[CulpritKey, Clear] = field(default_factory=dict)
    large_since: dict[CulpritKey, float] = field(default_factory=dict)
    present: dict[CulpritKey, float] = field(default_factory=dict)
    silenced: set[CulpritKey] = field(default_factory=set)
    time: float | None = None

    def copy(self) -> "Counts":
        """To be counted on by another."""
        return Counts(dict(self.clear), dict(self.large_since), dict(self.present), set(self.silenced), self.time)

    def forget(self, key: CulpritKey) -> None:
        """Of a culprit whose incident is over."""
        for kept in (self.clear, self.present, self.large_since):
            kept.pop(key, None)
