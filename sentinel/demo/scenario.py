"""What the demo can play, and what should come of it."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from sentinel.errors import ConfigError
from sentinel.trace import StepRange

__all__ = ["Expected", "Scenario", "own_scenario", "recorded_scenario", "scenario_names"]


@dataclass(frozen=True)
class Expected:
    """The alert that has to come. `tier` empty: any."""

    alertname: str
    rank: int
    tier: str = ""


@dataclass(frozen=True)
class Scenario:
    """A trace, the steps that are normal and those that are not, and the answer where it is known.

    `healthy` and `fault` are each played over and over, in the recorded rhythm.
    `expected`: an alert, `"none"` when no alert may come, `"unknown"` for somebody's own trace.
    `stall_after` is what the daemon is told to take for a stall, as its configuration writes durations.
    `ops_per_step` is for traces that do not show how many operations a step has.
    """

    name: str
    title: str
    trace_dir: Path
    healthy: StepRange
    fault: StepRange
    expected: Expected | Literal["none", "unknown"]
    stall_after: str = "30s"
    ops_per_step: int | None = None

    @property
    def expects_alert(self) -> bool:
        """Whether the demo waits for an alert rather than watching that none comes."""
        return self.expected != "none"


def _shipped(
    name: str, title: str, healthy: str, fault: str, expected: Expected | Literal["none"], stall_after: str = "30s"
) -> Scenario:
    trace_dir = Path(str(files("sentinel.demo"))) / "traces" / name
    return Scenario(
        name, title, trace_dir, StepRange.parse(healthy), StepRange.parse(fault), expected, stall_after=stall_after
    )


def _scenarios() -> list[Scenario]:
    return [
        _shipped(
            "late1ms", "rank 3 of 8 starts every step 1 ms late", "10:100", "101:200", Expected("NcclRankLate", 3)
        ),
        _shipped("healthy", "nothing is wrong", "10:100", "100:200", "none"),
        _shipped(
            "stall2",
            "rank 2 of 8 stops for 25 s, then goes on",
            "8:29",
            "29:59",
            Expected("NcclCommunicatorStalled", 2, tier="P0"),
            stall_after="10s",
        ),
        _shipped("mixchange", "messages become four times as large, nothing is wrong", "8:50", "50:100", "none"),
    ]


def own_scenario(trace_dir: Path, healthy: str, fault: str, ops_per_step: int | None = None) -> Scenario:
    """A trace of somebody's own, with ranges of steps as they wrote them. TraceError when they are no ranges."""
    title = f"the trace {trace_dir.name}"
    return Scenario(
        trace_dir.name,
        title,
        trace_dir,
        StepRange.parse(healthy),
        StepRange.parse(fault),
        "unknown",
        stall_after="10s",
        ops_per_step=ops_per_step,
    )


def scenario_names() -> list[str]:
    """The names that `recorded_scenario` knows."""
    return [scenario.name for scenario in _scenarios()]


def recorded_scenario(name: str) -> Scenario:
    """A scenario that comes with the package. ConfigError for a name that it does not have."""
    for scenario in _scenarios():
        if scenario.name == name:
            return scenario
    raise ConfigError(
        f"there is no scenario {name!r}",
        where="--scenario",
        hint=f"Choose one of {', '.join(scenario_names())}, or play your own trace with --trace",
    )
