"""`sentinel baseline show`."""

from dataclasses import asdict
from typing import Annotated

import typer

from sentinel.baseline.baseline import BaselineRow
from sentinel.cli.options import ConfigOption, JsonOption, SetOption, read_settings
from sentinel.cli.output import print_json, print_table
from sentinel.daemon.learnt import load_baseline
from sentinel.errors import StateError
from sentinel.model.instant import format_instant
from sentinel.model.quantity import format_seconds
from sentinel.state.store import State

__all__ = ["show"]

_HEADERS = ("JOB", "COMMUNICATOR", "RANK", "GLOBAL", "NODE", "GPU", "CELL", "TICKS", "DURATION", "LATENESS", "SPREAD")


def show(
    version: Annotated[
        int | None, typer.Option(metavar="N", help="Number of the baseline. [default: the newest]")
    ] = None,
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    json: JsonOption = False,
) -> None:
    """Show a baseline: what is normal, rank by rank."""
    settings = read_settings(config, assignments)
    with State.open_readonly(settings.state.directory) as state:
        learnt = load_baseline(state, version)
    if learnt is None:
        what = "no baseline" if version is None else f"no baseline {version}"
        raise StateError(what, where=str(settings.state.directory), hint="Build one: sentinel baseline build.")
    baseline = learnt.baseline
    if json:
        print_json(
            {
                "version": learnt.version,
                "built_at": format_instant(learnt.built_at),
                "start": format_instant(baseline.start),
                "end": format_instant(baseline.end),
                "step_seconds": baseline.step_seconds,
                "rows": [asdict(row) for row in baseline.rows],
            }
        )
        return
    typer.echo(
        f"Baseline {learnt.version}, built {format_instant(learnt.built_at)}, "
        f"from {format_instant(baseline.start)} to {format_instant(baseline.end)}\n"
    )
    print_table(_HEADERS, (_row(row) for row in baseline.rows))


def _row(row: BaselineRow) -> tuple[str, ...]:
    cell = " ".join(part for part in (row.op, row.size, row.algo, row.proto) if part)
    return (
        row.job_id or "-",
        f"{row.comm_name or '-'} ({row.nranks} ranks)",
        str(row.rank),
        str(row.global_rank),
        row.node or "-",
        row.gpu or "-",
        cell,
        str(row.ticks),
        format_seconds(row.duration_seconds),
        format_seconds(row.lateness_seconds),
        format_seconds(row.lateness_spread_seconds),
    )
