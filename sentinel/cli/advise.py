"""`sentinel advise`."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from sentinel.advise.strategy import advise as find_advice
from sentinel.cli.incident_picture import check_drawing
from sentinel.cli.moment import parse_range
from sentinel.cli.options import ConfigOption, JsonOption, SetOption, read_settings
from sentinel.cli.output import print_json, print_table, progress_bar
from sentinel.cli.strategy_picture import draw_strategy
from sentinel.cli.strategy_text import STRATEGY_HEADERS, advice_document, experiment_lines, strategy_rows
from sentinel.config.metrics_dialect import Dialect
from sentinel.daemon.strategy import Measured, measure
from sentinel.errors import ConfigError, SourceError
from sentinel.model.instant import format_instant
from sentinel.model.vocabulary import Vocabulary
from sentinel.model.volume import Volume
from sentinel.source.prometheus import PrometheusSource
from sentinel.source.prometheus_reader import PrometheusReader
from sentinel.source.prometheus_volume import read_volumes

__all__ = ["advise"]


def advise(
    start: Annotated[str, typer.Option("--from", metavar="TIME", help="Start of the history.")],
    end: Annotated[str, typer.Option("--to", metavar="TIME", help="End of the history.")] = "now",
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw latency and bandwidth, to a .png, .svg or .pdf; it is replaced."),
    ] = None,
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    json: JsonOption = False,
) -> None:
    """Show latency and bus bandwidth by operation, size, algorithm and protocol, and which experiment to try.

    LATENCY is the shortest rank's, which waits for nobody: the transfer, or an upper bound of it. BUSBW is NCCL's, by
    it. Where another algorithm, protocol or message size measured better on the same hardware, at 95% confidence, an
    experiment is named; else it says why the data cannot tell. Nothing is changed.

    TIME is now, a duration back from now (7d), RFC 3339 (2026-11-29T19:36:00Z), or Unix seconds. --plot needs
    matplotlib: pip install matplotlib.
    """
    settings = read_settings(config, assignments)
    if settings.prometheus.dialect is Dialect.INSPECTOR:
        why = "NVIDIA Inspector's metrics have no counts, so that no mean is known better than another"
        raise ConfigError("cannot advise", where="prometheus.dialect", why=why, hint="It needs nccl-exporter's.")
    if plot is not None:
        check_drawing(plot)
    first, last = parse_range(start, end, time.time())
    with ExitStack() as stack:
        # Sizes, algorithms and protocols are what it compares.
        every_cell = settings.prometheus.model_copy(update={"recording_rules": False})
        source = stack.enter_context(PrometheusSource(every_cell))

        def volumes(vocabulary: Vocabulary, begin: float, until: float, step: float) -> Iterator[Volume]:
            reader = stack.enter_context(PrometheusReader(settings.prometheus, vocabulary))
            return read_volumes(reader, settings.prometheus.selector, begin, until, step)

        progress = stack.enter_context(progress_bar("Reading"))
        measured = measure(source, volumes, settings.schedule, first, last, progress)
    if not measured.measurements:
        raise SourceError(
            "nothing measured",
            where=_range_text(measured),
            why="no operation whose duration was measured finished between two instants",
            hint="Choose a longer range. NCCL 2.23 to 2.26 give no durations.",
        )
    advices = find_advice(measured.measurements)
    if json:
        print_json(
            {
                "from": format_instant(measured.start),
                "to": format_instant(measured.end),
                "step_seconds": measured.step_seconds,
                "partial_instants": measured.partial,
                "rows": [advice_document(advice) for advice in advices],
            }
        )
    else:
        print_table(STRATEGY_HEADERS, strategy_rows(advices))
        lines = list(experiment_lines(advices))
        typer.echo("\nExperiments:" if lines else "\nNo experiment is suggested by these data.")
        for line in lines:
            typer.echo(f"- {line}")
    if measured.partial:
        typer.echo(f"warning: {measured.partial} instants were passed over: partial answers", err=True)
    if plot is not None:
        draw_strategy(measured.measurements, f"NCCL operations, {_range_text(measured)}", plot)
        typer.echo(f"Drawn to {plot}", err=True)


def _range_text(measured: Measured) -> str:
    return f"{format_instant(measured.start)} to {format_instant(measured.end)}"
