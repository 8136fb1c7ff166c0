"""`sentinel baseline diff`."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Annotated, Any

import typer

from sentinel.baseline.baseline import BaselineRow
from sentinel.baseline.diff import FALSE_DISCOVERIES, BaselineDiff, Change, diff_baselines
from sentinel.cli.baseline_text import communicator_text, place_text
from sentinel.cli.cell_text import cell_text
from sentinel.cli.options import ConfigOption, JsonOption, SetOption, read_settings
from sentinel.cli.output import print_json, print_table, progress_bar
from sentinel.daemon.learnt import LearntBaseline, load_baseline
from sentinel.errors import StateError
from sentinel.model.instant import format_instant
from sentinel.model.quantity import format_seconds
from sentinel.state.store import State

__all__ = ["diff"]

_ROWS = ("", "JOB", "COMMUNICATOR", "CELLS", "RANKS", "ROWS")
_CHANGED = ("JOB", "COMMUNICATOR", "GLOBAL", "WHERE", "CELL", "VALUE", "BEFORE", "AFTER", "CHANGE", "DEVIATIONS")
_SHIFTED = ("JOB", "COMMUNICATOR", "CELL", "RANKS", "DURATION")
_STEPS = 3  # read two, compare
_MOST_ROWS = 100  # of a table; --json has all


def diff(
    first: Annotated[
        int | None, typer.Argument(metavar="A", help="Number of a baseline. [default: the one before B]")
    ] = None,
    second: Annotated[int | None, typer.Argument(metavar="B", help="Another. [default: the newest]")] = None,
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    json: JsonOption = False,
) -> None:
    """Compare two baselines: rows that are gone, new, or changed beyond what their spreads explain.

    DEVIATIONS is the change of the median in standard errors: from the learnt spread, its autocorrelation and number
    of windows, and detection.late_rank.noise_floor_ratio of the duration. What is reported holds at 1% false
    discoveries (Student's t, Benjamini and Hochberg). Durations have no learnt spread: where the median rank's changed
    by 10% it is told, and is no difference.

    Exit status 1: there are differences.
    """
    settings = read_settings(config, assignments)
    where = str(settings.state.directory)
    with State.open_readonly(settings.state.directory) as state, progress_bar("Comparing") as progress:
        progress(0, _STEPS)
        versions = _chosen(state, first, second, where)
        a = _load(state, versions[0], where)
        progress(1, _STEPS)
        b = _load(state, versions[1], where)
        progress(2, _STEPS)
        found = diff_baselines(a.baseline, b.baseline, settings.detection.late_rank.noise_floor_ratio)
        progress(_STEPS, _STEPS)
    if json:
        print_json(_document(a, b, found))
    else:
        _print(a, b, found)
    if found.differs:
        raise typer.Exit(1)


def _chosen(state: State, first: int | None, second: int | None, where: str) -> tuple[int, int]:
    versions = [each.version for each in state.baseline_versions()]
    b = second if second is not None else versions[0] if versions else None
    earlier = [version for version in versions if b is not None and version < b]
    a = first if first is not None else earlier[0] if earlier else None
    if a is None or b is None:
        raise StateError(
            "no two baselines to compare",
            where=where,
            why=f"{len(versions)} kept",
            hint="`sentinel baseline show --versions` lists them; sentinel baseline build makes another.",
        )
    return a, b


def _load(state: State, version: int, where: str) -> LearntBaseline:
    learnt = load_baseline(state, version)
    if learnt is None:
        hint = "`sentinel baseline show --versions` lists those that are kept."
        raise StateError(f"no baseline {version}", where=where, hint=hint)
    return learnt


def _document(a: LearntBaseline, b: LearntBaseline, found: BaselineDiff) -> dict[str, Any]:
    return {
        "a": _head(a),
        "b": _head(b),
        "compared_rows": found.compared,
        "false_discoveries": FALSE_DISCOVERIES,
        "gone": [asdict(row) for row in found.gone],
        "new": [asdict(row) for row in found.new],
        "changed": [
            {
                "value": change.name,
                "before_seconds": change.before_seconds,
                "after_seconds": change.after_seconds,
                "deviations": change.deviations,
                "a": asdict(change.a),
                "b": asdict(change.b),
            }
            for change in found.changed
        ],
        "duration_shifts": [asdict(shift) for shift in found.shifts],
    }


def _head(learnt: LearntBaseline) -> dict[str, Any]:
    return {
        "version": learnt.version,
        "built_at": format_instant(learnt.built_at),
        "start": format_instant(learnt.baseline.start),
        "end": format_instant(learnt.baseline.end),
        "rows": len(learnt.baseline.rows),
    }


def _print(a: LearntBaseline, b: LearntBaseline, found: BaselineDiff) -> None:
    for name, learnt in (("A", a), ("B", b)):
        head = _head(learnt)
        typer.echo(f"{name}: baseline {head['version']}, {head['rows']} rows, from {head['start']} to {head['end']}")
    typer.echo(
        f"{found.compared} rows in both: {len(found.changed)} changes beyond noise; "
        f"{len(found.gone)} rows gone, {len(found.new)} new"
    )
    _table(_ROWS, [*_counted("gone", found.gone), *_counted("new", found.new)])
    _table(_CHANGED, map(_changed, found.changed))
    if found.shifts:
        typer.echo("\nDurations that changed for the median rank:")
    _table(
        _SHIFTED,
        (
            (
                shift.role.job_id or "-",
                communicator_text(shift.role),
                cell_text(shift.op, shift.size, shift.algo, shift.proto),
                str(shift.ranks),
                f"{shift.ratio * 100:+.3g}%",
            )
            for shift in found.shifts
        ),
    )


def _table(headers: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    rows = list(rows)
    if not rows:
        return
    typer.echo()
    print_table(headers, rows[:_MOST_ROWS])
    if len(rows) > _MOST_ROWS:
        typer.echo(f"… and {len(rows) - _MOST_ROWS} more (--json)")


def _counted(word: str, rows: Iterable[BaselineRow]) -> Iterator[tuple[str, ...]]:
    """A line for each communicator and set of cells: a job that ended takes thousands of rows with it."""
    ranks: dict[tuple[str, str], set[int]] = {}
    cells: dict[tuple[str, str], dict[str, None]] = {}
    count: Counter[tuple[str, str]] = Counter()
    for row in rows:
        key = (row.job_id or "-", communicator_text(row))
        ranks.setdefault(key, set()).add(row.rank)
        cells.setdefault(key, {})[cell_text(row.op, row.size, row.algo, row.proto)] = None
        count[key] += 1
    for key, known in cells.items():
        shown = ", ".join(list(known)[:3]) + (f" and {len(known) - 3} more" if len(known) > 3 else "")
        yield (word, *key, shown, str(len(ranks[key])), str(count[key]))


def _changed(change: Change) -> tuple[str, ...]:
    a, b = change.a, change.b
    return (
        b.job_id or "-",
        communicator_text(b),
        str(b.global_rank),
        f"{place_text(a)} → {place_text(b)}" if change.moved else place_text(b),
        cell_text(b.op, b.size, b.algo, b.proto),
        change.name.removesuffix("_seconds").replace("_", " "),
        format_seconds(change.before_seconds),
        format_seconds(change.after_seconds),
        format_seconds(change.after_seconds - change.before_seconds),
        f"{change.deviations:+.1f}",
    )
