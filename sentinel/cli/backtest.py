"""`sentinel backtest`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from sentinel.baseline.baseline import Baseline
from sentinel.cli.incident_text import INCIDENT_HEADERS, incident_rows
from sentinel.cli.kept_work import told_when_stopped
from sentinel.cli.moment import parse_range
from sentinel.cli.options import ConfigOption, JsonOption, SetOption, read_settings
from sentinel.cli.output import print_json, print_table, progress_bar
from sentinel.config.dialect import refused_notes
from sentinel.config.settings import Settings
from sentinel.daemon.backtest import Backtest, backtest_stretches, run_backtest
from sentinel.daemon.checkpoint_file import (
    Checkpoint,
    check_owner,
    checkpoint_key,
    load_checkpoint,
    save_checkpoint,
)
from sentinel.daemon.learnt import load_baseline
from sentinel.model.document import incident_document
from sentinel.model.instant import format_instant
from sentinel.source.opening import open_source
from sentinel.state.store import State
from sentinel.state.work_file import WorkFile

__all__ = ["backtest"]


def backtest(
    start: Annotated[str, typer.Option("--from", metavar="TIME", help="Start of the history.")],
    end: Annotated[str, typer.Option("--to", metavar="TIME", help="End of the history.")] = "now",
    config: ConfigOption = None,
    assignments: SetOption = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep there how far it is, until it is done: the same command goes on from there, with --from as a "
            "date or as Unix seconds. Python runs what is in it: leave it where nobody else can write.",
        ),
    ] = None,
    *,
    json: JsonOption = False,
) -> None:
    """Replay history through the live code, tick by tick, and print the incidents.

    TIME is now, a duration back from now (7d), RFC 3339 (2026-11-29T19:36:00Z), or Unix seconds. It knows only what was
    known then: the newest baseline that ends before --from, if there is one, else it learns on the way. Nothing is
    sent, and nothing but --checkpoint is written. Exit status 1: there were incidents.
    """
    settings = read_settings(config, assignments)
    first, last = parse_range(start, end, time.time())
    with State.open_readonly(settings.state.directory) as state:
        learnt = load_baseline(state, ended_by=first)
    baseline = learnt.baseline if learnt else None
    if checkpoint is None:
        with open_source(settings.prometheus) as source, progress_bar("Replaying") as progress:
            outcome = run_backtest(source, settings, baseline, first, last, progress)
    else:
        outcome = _kept(checkpoint, settings, baseline, first, last)
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


def _kept(path: Path, settings: Settings, baseline: Baseline | None, start: float, end: float) -> Backtest:
    """With a checkpoint now and then, from the last one on. It is removed when all is done."""
    stretches = backtest_stretches(settings, start, end)
    ends = [stretch.last for stretch in stretches[:-1]]
    check_owner(path)
    key = checkpoint_key(settings, baseline.to_bytes() if baseline else None, stretches[0].first)
    with WorkFile(path, key, is_own=False) as work, told_when_stopped(work):
        kept = load_checkpoint(work, ends)
        if kept:
            done = sum(stretch.windows for stretch in stretches if stretch.last <= kept.replayed.until)
            total = sum(stretch.windows for stretch in stretches)
            typer.echo(f"Going on with a backtest that was cut short: {done} of {total} ticks are done", err=True)
        elif work.fault or work.pieces():
            why = work.fault or "it is of another range, or cannot be read"
            typer.echo(f"note: the checkpoint is not used: {why}", err=True)
            work.keep(())
        with (
            open_source(settings.prometheus, memory=kept.memory if kept else None) as source,
            progress_bar("Replaying") as progress,
        ):
            outcome = run_backtest(
                source,
                settings,
                baseline,
                start,
                end,
                progress,
                kept.replayed if kept else None,
                lambda replayed: save_checkpoint(work, Checkpoint(replayed, source.memory)),
            )
        work.remove()
    return outcome
