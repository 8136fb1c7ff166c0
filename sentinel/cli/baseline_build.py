"""`sentinel baseline build`."""

import time
from typing import Annotated

import typer

from sentinel.cli.moment import parse_range
from sentinel.cli.options import ConfigOption, JsonOption, SetOption, read_settings
from sentinel.cli.output import print_json, progress_bar
from sentinel.config.files import directory_fault
from sentinel.daemon.learning import learn_baseline
from sentinel.errors import ConfigError
from sentinel.model.duration import format_duration
from sentinel.model.instant import format_instant
from sentinel.source.opening import open_source
from sentinel.state.store import State

__all__ = ["build"]


def build(
    start: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Start of the history. [default: baseline.range ago]")
    ] = None,
    end: Annotated[str, typer.Option("--to", metavar="TIME", help="End of the history.")] = "now",
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    json: JsonOption = False,
) -> None:
    """Learn what is normal from Prometheus's history, and keep it under a new number.

    TIME is now, a duration back from now (7d), RFC 3339 (2026-11-29T19:36:00Z), or Unix seconds. Known incidents are
    left out. A running daemon uses the new baseline from its next start or SIGHUP on.
    """
    settings = read_settings(config, assignments)
    now = time.time()
    first, last = parse_range(start or format_duration(settings.baseline.range), end, now)
    directory = settings.state.directory
    # Known before the work, and made after it: a server that cannot be asked leaves nothing behind.
    if fault := directory_fault(directory):
        raise ConfigError("the state directory cannot be used", where=str(directory), why=fault)
    with State.open_readonly(directory) as state, open_source(settings.prometheus) as source:
        with progress_bar("Learning") as progress:
            baseline = learn_baseline(source, settings, state, first, last, progress)
        known = len(state.incidents_since(first))
    if not baseline.rows:
        span = f"from {format_instant(baseline.start)} to {format_instant(baseline.end)}"
        needed = settings.detection.baseline.min_ticks
        why = f"no cell has {needed} ticks of history {span}; the time of {known} known incidents is left out"
        hint = "Choose another range with --from and --to; detection.baseline.min_ticks says how much is needed."
        raise ConfigError("no baseline is kept", why=why, hint=hint)
    with State.open(directory) as state:
        version = state.add_baseline(now, baseline.start, baseline.end, baseline.to_bytes())
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
