"""Half-open ranges of steps, as people write them: `10:100`."""

from dataclasses import dataclass
from typing import Self

from sentinel.errors import TraceError

__all__ = ["StepRange"]


@dataclass(frozen=True)
class StepRange:
    """Steps `first`, …, `last - 1` of a trace, counted from 0."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `first:last`. TraceError for anything else."""
        first, colon, last = text.partition(":")
        if not (colon and _is_count(first) and _is_count(last)):
            raise TraceError(
                "cannot read a range of steps",
                where=text or "empty",
                why="it is not two numbers with a colon between them",
                hint="Write the first step and the one after the last, as in 10:100",
            )
        return cls(int(first), int(last))

    def check(self, steps: int, where: str) -> None:
        """TraceError unless the range is not empty and lies inside a trace of `steps` steps."""
        if not 0 <= self.first < self.last <= steps:
            why = "it is empty" if self.first >= self.last else f"the trace has {steps} steps"
            raise TraceError(
                f"cannot take steps {self}",
                where=where,
                why=why,
                hint=f"Allowed is FIRST:LAST with 0 <= FIRST < LAST <= {steps}",
            )

    def __str__(self) -> str:
        return f"{self.first}:{self.last}"


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10
