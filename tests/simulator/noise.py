"""What makes ranks arrive at different times though nothing is wrong, by name and scale.

Ratios are of a phase's compute time. A job has a tuple of these; their effects add up.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_LEAST = 0.05  # of the compute time, however lucky a rank is


class Noise:
    """One kind of noise. Each part that a kind does not have stays as it is here."""

    is_permanent = False  # whether `slow` gives the same at every tick

    def slow(self, random: np.random.Generator, count: int, before: Floats | None) -> Floats | None:
        """Ratio by GPU for one tick, shape (count,), from that of the tick before."""
        return None

    def each(self, random: np.random.Generator, shape: tuple[int, int]) -> Floats | None:
        """Ratio of every operation on every rank, shape (operations, ranks)."""
        return None

    def rare(self, random: np.random.Generator, arrival: Floats) -> None:
        """Add seconds to a few of the arrivals, shape (operations, ranks), in place."""

    def factor(self, time: float) -> float:
        """What the whole job's times are multiplied by, `time` seconds from the start."""
        return 1.0


@dataclass(frozen=True)
class Normal(Noise):
    """Independent for every operation and rank."""

    ratio: float = 0.02

    def each(self, random: np.random.Generator, shape: tuple[int, int]) -> Floats:
        out = random.standard_normal(shape)
        out *= self.ratio
        return out


@dataclass(frozen=True)
class LogNormal(Noise):
    """Skewed: `ratio` is the median. Independent for every operation, or, `per_tick`, for every tick of a rank."""

    ratio: float = 0.02
    sigma: float = 1.2
    per_tick: bool = False

    def slow(self, random: np.random.Generator, count: int, before: Floats | None) -> Floats | None:
        return self.ratio * random.lognormal(0.0, self.sigma, count) if self.per_tick else None

    def each(self, random: np.random.Generator, shape: tuple[int, int]) -> Floats | None:
        return None if self.per_tick else self.ratio * random.lognormal(0.0, self.sigma, shape)


@dataclass(frozen=True)
class Ar1(Noise):
    """The mean of a rank over a tick remembers the last tick's: `rho` is its correlation from tick to tick.

    `ratio` is its standard deviation.
    """

    ratio: float = 0.01
    rho: float = 0.9

    def slow(self, random: np.random.Generator, count: int, before: Floats | None) -> Floats:
        fresh = self.ratio * random.standard_normal(count)
        if before is None:
            return fresh
        known = len(before)
        fresh[:known] = self.rho * before + np.sqrt(1.0 - self.rho**2) * fresh[:known]
        return fresh


@dataclass(frozen=True)
class StudentT(Noise):
    """Heavy tails on both sides: with 2.2 degrees of freedom the variance is just finite."""

    ratio: float = 0.01
    degrees: float = 2.2

    def each(self, random: np.random.Generator, shape: tuple[int, int]) -> Floats:
        return self.ratio * random.standard_t(self.degrees, shape)


@dataclass(frozen=True)
class Hiccups(Noise):
    """Now and then, `once_in` so many operations of a rank, it is at least `seconds` late: Pareto."""

    seconds: float = 0.040
    once_in: float = 1000.0
    shape: float = 2.5

    def rare(self, random: np.random.Generator, arrival: Floats) -> None:
        count = random.binomial(arrival.size, 1.0 / self.once_in)
        places = random.integers(0, arrival.size, count)
        np.add.at(arrival.reshape(-1), places, self.seconds * (1.0 + random.pareto(self.shape, count)))


@dataclass(frozen=True)
class Daily(Noise):
    """The whole job is up to `ratio` slower and faster in the course of a day."""

    ratio: float = 0.1
    period_seconds: float = 86_400.0

    def factor(self, time: float) -> float:
        return 1.0 + self.ratio * float(np.sin(2.0 * np.pi * time / self.period_seconds))


@dataclass(frozen=True)
class Imbalance(Noise):
    """GPUs differ for good; `ratio` is the standard deviation."""

    ratio: float = 0.01
    is_permanent = True

    def slow(self, random: np.random.Generator, count: int, before: Floats | None) -> Floats:
        known = np.empty(0) if before is None else before
        return np.concatenate([known, self.ratio * random.standard_normal(count - len(known))])


class NoiseState:
    """What noise remembers, by GPU: it carries on from tick to tick, and stays with the hardware."""

    def __init__(self, parts: Sequence[Noise], random: np.random.Generator, gpus: int) -> None:
        self._parts = tuple(parts)
        self._random = random
        self._slow: list[Floats | None] = [None] * len(self._parts)
        self.advance(gpus)

    def advance(self, gpus: int) -> None:
        """Go to the next tick; there may be more GPUs than before."""
        for place, part in enumerate(self._parts):
            before = self._slow[place]
            count = gpus if before is None else max(gpus, len(before))
            self._slow[place] = part.slow(self._random, count, before)

    def at_another_time(self, random: np.random.Generator) -> "NoiseState":
        """The same GPUs at a moment that has nothing to do with this one."""
        other = NoiseState(self._parts, random, 0)
        gpus = max((len(slow) for slow in self._slow if slow is not None), default=0)
        for place, part in enumerate(self._parts):
            other._slow[place] = self._slow[place] if part.is_permanent else part.slow(random, gpus, None)
        return other

    def factor(self, time: float) -> float:
        """Of the whole job."""
        return float(np.prod([part.factor(time) for part in self._parts]))

    def mean(self, gpu_of: npt.NDArray[np.int64]) -> Floats:
        """Compute time of every rank over this tick, as a multiple of what it should be. Shape (ranks,)."""
        total = np.ones(len(gpu_of))
        for slow in self._slow:
            if slow is not None:
                total += slow[gpu_of]
        return np.maximum(total, _LEAST)

    def compute(self, seconds: float, mean: Floats, operations: int) -> Floats:
        """How long every rank computes before each of some operations. Shape (operations, ranks)."""
        shape = (operations, len(mean))
        out: Floats | None = None
        for part in self._parts:
            each = part.each(self._random, shape) if seconds else None
            if each is not None:
                out = each if out is None else np.add(out, each, out=out)
        if out is None:
            out = np.zeros(shape)
        out += mean
        out *= seconds
        np.maximum(out, _LEAST * seconds, out=out)
        for part in self._parts:
            part.rare(self._random, out)
        return out
