"""The command `nccl-exporter`."""

import logging
import signal
import sys
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from nccl_exporter import __version__
from nccl_exporter.address import Address
from nccl_exporter.collector import Collector
from nccl_exporter.directory import default_directories
from nccl_exporter.errors import ExporterError
from nccl_exporter.server import Server

_log = logging.getLogger(__name__)

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


class Level(StrEnum):
    """How much is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nccl-exporter {__version__}")
        raise typer.Exit


@app.command()
def run(
    source_dir: Annotated[
        list[Path] | None,
        typer.Option(
            "--source-dir",
            metavar="DIR",
            help="Where the plugin writes its files; may be given again. "
            "[default: $NCCL_SENTINEL_DIR, else /run/nccl-sentinel and /dev/shm/nccl-sentinel]",
        ),
    ] = None,
    listen_address: Annotated[
        str,
        typer.Option("--web.listen-address", metavar="[HOST]:PORT", help="Where to serve; port 0 takes a free one."),
    ] = ":9847",
    log_level: Annotated[Level, typer.Option("--log.level", help="The least that is logged.")] = Level.INFO,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Serve what the NCCL profiler plugin counts in this node's training processes to Prometheus."""
    logging.basicConfig(
        level=log_level.upper(), format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr, force=True
    )
    try:
        collector = Collector(source_dir or default_directories())
        server = Server(Address.parse(listen_address), collector.collect)
    except ExporterError as error:
        typer.echo(f"nccl-exporter: {error}", err=True)
        raise typer.Exit(2) from error
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    with server:
        _log.info("listening on http://%s", server.address)
        # Look once before anybody asks, so that the log tells at once what is there.
        collector.collect()
        server.serve_forever()


def _stop(number: int, _frame: FrameType | None) -> None:
    """End at once: nothing is written that could be left half done, and the threads die with the process."""
    _log.info("stopped by %s", signal.Signals(number).name)
    sys.exit(0)


def main() -> None:
    """Entry point of the console script."""
    app(prog_name="nccl-exporter")
