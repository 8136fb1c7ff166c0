"""The baseline that may be used, out of the state."""

from dataclasses import dataclass

from sentinel.baseline.baseline import Baseline
from sentinel.errors import StateError
from sentinel.state.store import State

__all__ = ["LearntBaseline", "load_baseline"]


@dataclass(frozen=True)
class LearntBaseline:
    """A baseline with its number and when it was built (Unix seconds)."""

    version: int
    built_at: float
    baseline: Baseline


def load_baseline(state: State, version: int | None = None, ended_by: float | None = None) -> LearntBaseline | None:
    """The baseline of that number, or the newest that knows of nothing after `ended_by`.

    StateError when it is broken.
    """
    stored = state.baseline(version, ended_by)
    if stored is None:
        return None
    try:
        baseline = Baseline.from_bytes(stored.data)
    except ValueError as error:
        raise StateError(
            "cannot read a baseline",
            where=f"baseline {stored.version}",
            why=str(error),
            hint="Build it again: sentinel baseline build.",
        ) from error
    return LearntBaseline(stored.version, stored.built_at, baseline)
