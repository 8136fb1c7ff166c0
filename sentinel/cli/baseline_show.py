"""`sentinel baseline show`."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from sentinel.baseline.baseline import BaselineRow
from sentinel.cli.baseline_text import communicator_text
from sentinel.cli.cell_text import cell_text
from sentinel.cli.options import ConfigOption, JsonOption, SetOption, read_settings
from sentinel.cli.output import print_json, print_table
from sentinel.daemon.learnt import load_baseline
from sentinel.errors import ConfigError, StateError
from sentinel.model.instant import format_instant
from sentinel.model.quantity import format_quantity, format_seconds
from sentinel.state.store import BaselineVersion, State

__all__ = ["show"]

_HEADERS = ("JOB", "COMMUNICATOR", "RANK", "GLOBAL", "NODE", "GPU", "CELL", "TICKS", "DURATION", "LATENESS", "SPREAD")
_VERSION_HEADERS = ("VERSION", "BUILT", "FROM", "TO", "SIZE")


def show(
    version: Annotated[
        int | None, typer.Option(metavar="N", help="Number of the baseline. [default: the newest]")
    ] = None,
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    versions: Annotated[bool, typer.Option("--versions", help="List the baselines that are kept.")] = False,
    json: JsonOption = False,
) -> None:
    """Show a baseline: what is normal, rank by rank."""
    if versions and version is not None:
        raise ConfigError("--version and --versions exclude each other", hint="Leave one of them out")
    settings = read_settings(config, assignments)
    with State.open_readonly(settings.state.directory) as state:
        if versions:
            _list(state.baseline_versions(), json=json)
            return
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


def _list(versions: Sequence[BaselineVersion], *, json: bool) -> None:
    if json:
        print_json(
            [
                {
                    "version": each.version,
                    "built_at": format_instant(each.built_at),
                    "start": format_instant(each.start),
                    "end": format_instant(each.end),
                    "size_bytes": each.size_bytes,
                }
                for each in versions
            ]
        )
    elif versions:
        print_table(
            _VERSION_HEADERS,
            (
                (
                    str(each.version),
                    *map(format_instant, (each.built_at, each.start, each.end)),
                    format_quantity("size_bytes", each.size_bytes)[1],
                )
                for each in versions
            ),
        )
    else:
        typer.echo("No baseline is kept: sentinel baseline build makes one.", err=True)


def _row(row: BaselineRow) -> tuple[str, ...]:
    return (
        row.job_id or "-",
        communicator_text(row),
        str(row.rank),
        str(row.global_rank),
        row.node or "-",
        row.gpu or "-",
        cell_text(row.op, row.size, row.algo, row.proto),
        str(row.ticks),
        format_seconds(row.duration_seconds),
        format_seconds(row.lateness_seconds),
        format_seconds(row.lateness_spread_seconds),
    )
