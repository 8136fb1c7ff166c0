"""`sentinel baseline build`."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Annotated

import typer

from sentinel.baseline.baseline import Baseline
from sentinel.cli.kept_work import told_when_stopped
from sentinel.cli.moment import parse_range
from sentinel.cli.options import ConfigOption, JsonOption, SetOption, read_settings
from sentinel.cli.output import print_json, progress_bar
from sentinel.config.files import directory_fault
from sentinel.config.prometheus import PrometheusSettings
from sentinel.config.settings import Settings
from sentinel.daemon.learning import WORK_FILE_NAME, make_baseline, plan_learning, read_history, work_key
from sentinel.daemon.measuring import Measuring, Task, measure_here
from sentinel.errors import ConfigError
from sentinel.model.duration import format_duration
from sentinel.model.instant import format_instant
from sentinel.source.interface import Scope
from sentinel.source.opening import open_source
from sentinel.state.store import State
from sentinel.state.work_file import WorkFile

__all__ = ["build"]


def build(
    start: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Start of the history. [default: baseline.range ago]")
    ] = None,
    end: Annotated[str, typer.Option("--to", metavar="TIME", help="End of the history.")] = "now",
    config: ConfigOption = None,
    assignments: SetOption = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Scheduler of a Dask cluster whose workers read and measure, as in tcp://scheduler:8786.",
        ),
    ] = None,
    *,
    json: JsonOption = False,
) -> None:
    """Learn what is normal from Prometheus's history, and keep it under a new number.

    TIME is now, a duration back from now (7d), RFC 3339 (2026-11-29T19:36:00Z), or Unix seconds. Known incidents are
    left out, each in its job. A running daemon uses the new baseline from its next start or SIGHUP on.

    What has been read is kept in the state directory until the baseline is done: the same command goes on where one
    was cut short.
    """
    settings = read_settings(config, assignments)
    now = time.time()
    first, last = parse_range(start or format_duration(settings.baseline.range), end, now)
    directory = settings.state.directory
    # Known before the work, and made with its first part: a server that cannot be asked leaves nothing behind.
    if fault := directory_fault(directory):
        raise ConfigError("the state directory cannot be used", where=str(directory), why=fault)
    with State.open_readonly(directory) as state:
        tasks = plan_learning(settings, state, first, last)
        known = len(state.incidents_since(first))
    with WorkFile(directory / WORK_FILE_NAME, work_key(settings)) as work, told_when_stopped(work):
        _tell(work, tasks)
        with _measuring(settings.prometheus, dask) as measuring, progress_bar("Learning") as progress:
            read_history(measuring, tasks, work, progress)
        with progress_bar("Statistics") as progress:
            baseline = make_baseline(tasks, settings.detection.baseline.min_ticks, work, progress)
        if not baseline.rows:
            work.remove()
            raise _too_little(settings, baseline, known)
        with State.open(directory) as state:
            version = state.add_baseline(now, baseline.start, baseline.end, baseline.to_bytes())
        work.remove()
    ranks = {(row.job_id, row.node, row.global_rank) for row in baseline.rows}
    if json:
        print_json(
            {
                "version": version,
                "built_at": format_instant(now),
                "start": format_instant(baseline.start),
                "end": format_instant(baseline.end),
                "step_seconds": baseline.step_seconds,
                "ranks": len(ranks),
                "rows": len(baseline.rows),
            }
        )
        return
    typer.echo(
        f"Baseline {version}: {len(baseline.rows)} cells of {len(ranks)} ranks, "
        f"from {format_instant(baseline.start)} to {format_instant(baseline.end)}."
    )


@contextmanager
def _measuring(settings: PrometheusSettings, dask: str | None) -> Iterator[Measuring]:
    if dask is not None:
        from sentinel.daemon.dask_measuring import measure_on_workers

        with measure_on_workers(dask, settings) as measuring:
            yield measuring
        return
    yield measure_here(partial(open_source, settings, scope=Scope.COLLECTIVES))


def _tell(work: WorkFile, tasks: Sequence[Task]) -> None:
    """What became of a build that was cut short."""
    if work.fault:
        typer.echo(f"note: the work of an earlier build is not used: {work.fault}", err=True)
        return
    finished = work.pieces()
    if finished:
        done = sum(task.stretch.windows for task in tasks if task.identity in finished)
        total = sum(task.stretch.windows for task in tasks)
        typer.echo(f"Going on with a build that was cut short: {done} of {total} ticks are learnt", err=True)


def _too_little(settings: Settings, baseline: Baseline, incidents: int) -> ConfigError:
    span = f"from {format_instant(baseline.start)} to {format_instant(baseline.end)}"
    needed = settings.detection.baseline.min_ticks
    why = f"no cell has {needed} ticks of history {span}; {incidents} known incidents are left out, each in its job"
    hint = "Choose another range with --from and --to; detection.baseline.min_ticks says how much is needed."
    return ConfigError("no baseline is kept", why=why, hint=hint)
