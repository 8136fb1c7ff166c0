"""`sentinel demo`."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from sentinel.cli.output import print_json
from sentinel.demo.performance import perform
from sentinel.demo.report import print_alerts
from sentinel.demo.scenario import Scenario, own_scenario, recorded_scenario, scenario_names
from sentinel.errors import ConfigError

__all__ = ["demo"]


def demo(
    scenario: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"One of {', '.join(scenario_names())}. [default: late1ms]")
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Play a recorded trace of your own: a folder of rankNN.jsonl.xz.")
    ] = None,
    healthy: Annotated[
        str | None, typer.Option(metavar="FIRST:LAST", help="With --trace: the steps that are normal.")
    ] = None,
    fault: Annotated[
        str | None, typer.Option(metavar="FIRST:LAST", help="With --trace: the steps that are not.")
    ] = None,
    ops_per_step: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="With --trace: operations in a step, where the trace does not show it."),
    ] = None,
    *,
    keep: Annotated[
        bool, typer.Option("--keep", help="Go on running afterwards, to look around, until Ctrl-C.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the alerts as JSON, as the webhook received them.")
    ] = False,
) -> None:
    """Run the whole chain on this machine, from a recorded trace.

    Plays 8 ranks of a real job into the real plugin, with the real exporter, Prometheus, daemon and Alertmanager,
    and shows the alert that comes out. Everything is stopped and removed at the end.

    Exit status 1: what came is not what was to come of the scenario.
    """
    outcome = perform(
        _chosen(scenario, trace, healthy, fault, ops_per_step),
        console=Console(stderr=True),
        report=print_json if json else partial(print_alerts, Console()),
        keep=keep,
    )
    if outcome.as_expected is False:
        raise typer.Exit(1)


def _chosen(
    name: str | None, trace: Path | None, healthy: str | None, fault: str | None, ops_per_step: int | None
) -> Scenario:
    if trace is None:
        if (healthy, fault, ops_per_step) != (None, None, None):
            raise ConfigError(
                "--healthy, --fault and --ops-per-step are about a trace of yours",
                hint="Give the trace with --trace DIR, or leave them out",
            )
        return recorded_scenario(name or "late1ms")
    if name is not None:
        raise ConfigError("--scenario and --trace exclude each other", hint="Leave one of them out")
    if healthy is None or fault is None:
        raise ConfigError(
            "--trace needs --healthy and --fault", hint="Name the steps, as in --healthy 10:100 --fault 101:200"
        )
    return own_scenario(trace, healthy, fault, ops_per_step)
