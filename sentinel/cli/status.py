"""`sentinel status`."""

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import typer

from sentinel.cli.incident_text import INCIDENT_HEADERS, incident_rows
from sentinel.cli.options import ConfigOption, JsonOption, SetOption, read_settings
from sentinel.cli.output import print_json, print_table
from sentinel.config.dialect import refused_notes
from sentinel.config.settings import Settings
from sentinel.daemon.learnt import LearntBaseline, load_baseline
from sentinel.daemon.view import View, look
from sentinel.errors import SourceError
from sentinel.model.document import incident_document
from sentinel.model.incident import Incident
from sentinel.model.instant import format_instant
from sentinel.source.opening import open_source
from sentinel.state.store import State
from sentinel.state.tick import TickRecord

__all__ = ["status"]

_HEADERS = ("JOB", "COMMUNICATOR", "ID", "RANKS", "STATE")
_RECENT_SECONDS = 86_400.0


def status(config: ConfigOption = None, assignments: SetOption = None, *, json: JsonOption = False) -> None:
    """Show what is seen now: communicators and their states, open incidents, the baseline, the daemon's last tick.

    Reads beside a running daemon, and also without one.
    """
    settings = read_settings(config, assignments)
    with State.open_readonly(settings.state.directory) as state:
        known, tick = state.incidents_since(time.time() - _RECENT_SECONDS), state.last_tick()
        learnt = load_baseline(state)
    incidents = [each for each in known if each.ended_at is None]
    recent = [each for each in known if each.ended_at is not None]
    view, fault = None, None
    try:
        with open_source(settings.prometheus) as source:
            view = look(source, settings, learnt, time.time())
    except SourceError as error:
        fault = error
    if json:
        print_json(_document(settings, view, incidents, recent, learnt, tick, fault))
    else:
        _print(settings, view, incidents, recent, learnt, tick)
    if fault is not None:
        raise fault


def _notes(view: View | None, settings: Settings) -> tuple[str, ...]:
    """What cannot be had, whoever's metrics they are, and what is left out now."""
    return (*refused_notes(settings.prometheus.dialect), *(view.quality.notes if view else ()))


def _document(
    settings: Settings,
    view: View | None,
    incidents: Sequence[Incident],
    recent: Sequence[Incident],
    learnt: LearntBaseline | None,
    tick: TickRecord | None,
    fault: SourceError | None,
) -> dict[str, Any]:
    return {
        "time": format_instant(view.time) if view else None,
        "error": str(fault) if fault else None,
        "warnings": list(view.quality.warnings) if view else [],
        "notes": list(_notes(view, settings)),
        "malformed_series": view.quality.malformed_series if view else 0,
        "communicators": [asdict(communicator) for communicator in view.communicators] if view else [],
        "incidents": [incident_document(incident) for incident in incidents],
        "recent_incidents": [incident_document(incident) for incident in recent],
        "baseline": learnt
        and {
            "version": learnt.version,
            "built_at": format_instant(learnt.built_at),
            "start": format_instant(learnt.baseline.start),
            "end": format_instant(learnt.baseline.end),
            "rows": len(learnt.baseline.rows),
        },
        "last_tick": tick and {**asdict(tick), "time": format_instant(tick.time)},
    }


def _print(
    settings: Settings,
    view: View | None,
    incidents: Sequence[Incident],
    recent: Sequence[Incident],
    learnt: LearntBaseline | None,
    tick: TickRecord | None,
) -> None:
    if view is not None:
        typer.echo(f"Communicators at {format_instant(view.time)}: {len(view.communicators) or 'none'}")
        if view.communicators:
            print_table(
                _HEADERS,
                (
                    (each.job_id or "-", each.comm_name or "-", each.comm, f"{each.ranks} of {each.nranks}", each.state)
                    for each in view.communicators
                ),
            )
        for note in _notes(view, settings):
            typer.echo(f"note: {note}", err=True)
        for warning in view.quality.warnings:
            typer.echo(f"warning: {warning}", err=True)
        if view.quality.malformed_series:
            typer.echo(f"warning: {view.quality.malformed_series} malformed series are left out", err=True)
        typer.echo()
    typer.echo(f"Open incidents: {len(incidents) or 'none'}")
    if incidents:
        print_table(INCIDENT_HEADERS, incident_rows(incidents))
    if recent:
        typer.echo(f"\nEnded in the last 24 hours: {len(recent)}")
        print_table(INCIDENT_HEADERS, incident_rows(recent))
    typer.echo()
    if learnt is None:
        typer.echo("Baseline: none, learning on the way")
    else:
        typer.echo(f"Baseline: {learnt.version}, built {format_instant(learnt.built_at)}")
    if tick is None:
        typer.echo("Last tick of the daemon: none")
    else:
        problem = f", {tick.error}" if tick.error else ""
        typer.echo(f"Last tick of the daemon: {format_instant(tick.time)}, {tick.outcome.value}{problem}")
