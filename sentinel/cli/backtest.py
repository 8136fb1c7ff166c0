"""`sentinel backtest`."""

import time
from typing import Annotated

import typer

from sentinel.cli.incident_text import INCIDENT_HEADERS, incident_rows
from sentinel.cli.moment import parse_range
from sentinel.cli.options import ConfigOption, JsonOption, SetOption, read_settings
from sentinel.cli.output import print_json, print_table, progress_bar
from sentinel.config.dialect import refused_notes
from sentinel.daemon.backtest import run_backtest
from sentinel.daemon.learnt import load_baseline
from sentinel.model.document import incident_document
from sentinel.model.instant import format_instant
from sentinel.source.opening import open_source
from sentinel.state.store import State

__all__ = ["backtest"]


def backtest(
    start: Annotated[str, typer.Option("--from", metavar="TIME", help="Start of the history.")],
    end: Annotated[str, typer.Option("--to", metavar="TIME", help="End of the history.")],
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    json: JsonOption = False,
) -> None:
    """Replay history through the live code, tick by tick, and print the incidents.

    TIME is now, a duration back from now (7d), RFC 3339 (2026-11-29T19:36:00Z), or Unix seconds. It knows only what was
    known then: the newest baseline that ends before --from, if there is one, else it learns on the way. Nothing is
    written or sent. Exit status 1: there were incidents.
    """
    settings = read_settings(config, assignments)
    first, last = parse_range(start, end, time.time())
    with State.open_readonly(settings.state.directory) as state:
        learnt = load_baseline(state, ended_by=first)
    with open_source(settings.prometheus) as source, progress_bar("Replaying") as progress:
        outcome = run_backtest(source, settings, learnt.baseline if learnt else None, first, last, progress)
    version = learnt.version if learnt else None
    if json:
        print_json(
            {
                "from": format_instant(outcome.start),
                "to": format_instant(outcome.end),
                "ticks": outcome.ticks,
                "partial_ticks": outcome.partial_ticks,
                "baseline": version,
                "incidents": [incident_document(incident) for incident in outcome.incidents],
            }
        )
    else:
        if outcome.incidents:
            print_table(INCIDENT_HEADERS, incident_rows(outcome.incidents))
        noun = "incident" if len(outcome.incidents) == 1 else "incidents"
        known = f"baseline {version}" if version else "no baseline"
        typer.echo(
            f"{len(outcome.incidents)} {noun} in {outcome.ticks} ticks from {format_instant(outcome.start)} "
            f"to {format_instant(outcome.end)}, {known}",
            err=True,
        )
    for note in (*refused_notes(settings.prometheus.dialect), *outcome.notes):
        typer.echo(f"note: {note}", err=True)
    if outcome.partial_ticks:
        typer.echo(f"warning: in {outcome.partial_ticks} ticks Prometheus's answer was partial", err=True)
    if outcome.incidents:
        raise typer.Exit(1)
