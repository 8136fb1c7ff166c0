# SPDX-License-Identifier: Apache-2.0
"""The command `nccl-exporter`."""

import logging
import os
import signal
import threading
from contextlib import ExitStack
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from nccl_endpoint.access import Access
from nccl_endpoint.address import Address
from nccl_endpoint.configuration import WebConfig
from nccl_endpoint.errors import EndpointError
from nccl_endpoint.server import Server

from nccl_exporter import __version__, log
from nccl_exporter.address import parse_address
from nccl_exporter.collector import Collector
from nccl_exporter.directory import default_directories
from nccl_exporter.errors import ExporterError
from nccl_exporter.ras.reader import RasReader
from nccl_exporter.ras.service_address import service_address
from nccl_exporter.service import ServiceCounts
from nccl_exporter.site import site

_log = logging.getLogger(__name__)

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
        typer.Option(
            "--web.listen-address",
            metavar="[HOST]:PORT",
            help="Where to serve; without a host on every address, port 0 takes a free one.",
        ),
    ] = "127.0.0.1:9847",
    web_config: Annotated[
        Path | None,
        typer.Option(
            "--web.config.file",
            metavar="FILE",
            help="TLS, users and headers, in the format of Prometheus' exporters; read again when it changes.",
        ),
    ] = None,
    ras_address: Annotated[
        str | None,
        typer.Option(
            "--ras.address",
            metavar="HOST:PORT",
            help="Ask NCCL's RAS service there about ranks; auto is $NCCL_RAS_ADDR, else 127.0.0.1:28028. "
            "[default: do not ask]",
        ),
    ] = None,
    series_per_rank: Annotated[
        int,
        typer.Option(
            "--series-per-rank",
            min=1,
            help="Series of one training process; past it channels, links and the rarest sizes become other.",
        ),
    ] = 350,
    log_level: Annotated[Level, typer.Option("--log.level", help="The least that is logged.")] = Level.INFO,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Serve what the NCCL profiler plugin counts in this node's training processes to Prometheus."""
    log.configure(log_level)
    _stop_at_signals()
    with ExitStack() as stack:
        try:
            access = Access(web_config)
            ras = stack.enter_context(RasReader(service_address(ras_address, os.environ))) if ras_address else None
            collector = Collector(
                source_dir or default_directories(),
                series_per_rank=series_per_rank,
                ras=ras,
                service=partial(_service_counts, access, ras),
            )
            server = stack.enter_context(_server(parse_address(listen_address), collector, access))
        except (ExporterError, EndpointError) as error:
            typer.echo(f"nccl-exporter: {error}", err=True)
            raise typer.Exit(2) from error
        config = access.current()
        _log.info("listening on %s://%s", "https" if config.tls else "http", server.address)
        if risk := _risk(server.address, config):
            _log.warning("%s", risk)
        # Look once before anybody asks, so that the log tells at once what is there.
        collector.collect()
        server.serve_forever()


def _server(address: Address, collector: Collector, access: Access) -> Server:
    try:
        return Server(address, site(collector.collect), access)
    except EndpointError as error:
        hint = "Choose another address with --web.listen-address"
        raise ExporterError(error.what, where=error.where, why=error.why, hint=hint) from error


def _service_counts(access: Access, ras: RasReader | None) -> ServiceCounts:
    counts = ServiceCounts(web_refused=access.refused, web_reload_succeeded=access.reload_succeeded)
    if ras is None:
        return counts
    return replace(
        counts, ras_queries=ras.queries, ras_failures=ras.failures, ras_left_out=ras.left_out, ras_capped=ras.capped
    )


def _risk(address: Address, config: WebConfig) -> str:
    """What is open to the network that should not be; empty when nothing is."""
    if address.is_loopback or config.tls:
        return ""
    if config.users:
        return "passwords cross the network in clear text: add tls_server_config to the web configuration"
    return "everybody in the network can read the metrics: protect them with --web.config.file"


def _stop_at_signals() -> None:
    """End at a signal, at once: nothing is written that could be left half done, and the threads die with the process.

    A thread waits for it. A handler would run in the middle of whatever the main thread does, and what goes wrong in it
    there, such as a write to a log that is being written, could be taken for a failure of that and passed over.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)

    def stop() -> None:
        number = os.read(reader, 1)[0]
        _log.info("stopped by %s", signal.Signals(number).name)
        logging.shutdown()
        os._exit(0)

    threading.Thread(target=stop, name="signals", daemon=True).start()


def main() -> None:
    """Entry point of the console script."""
    app(prog_name="nccl-exporter")
