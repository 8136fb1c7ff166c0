"""`sentinel top`."""

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from sentinel.cli.options import ConfigOption, JsonOption, SetOption, read_settings
from sentinel.cli.output import print_json
from sentinel.errors import ConfigError
from sentinel.model.duration import parse_duration

__all__ = ["top"]

_LEAST_SECONDS = 0.5
_PIPE_COLUMNS = 10_000  # what is piped is not cut to a terminal's width


def top(
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where the daemon serves. [default: as [web] of the configuration says]"),
    ] = None,
    interval: Annotated[str, typer.Option(metavar="DURATION", help="How often the daemon is asked, as in 5s.")] = "2s",
    username: Annotated[str | None, typer.Option(metavar="NAME", help="User of the daemon's pages.")] = None,
    password_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with the user's password; it may be a pipe.")
    ] = None,
    ca_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Authorities to trust, PEM. [default: those of the system]")
    ] = None,
    cert_file: Annotated[Path | None, typer.Option(metavar="FILE", help="Client certificate, PEM.")] = None,
    key_file: Annotated[Path | None, typer.Option(metavar="FILE", help="Its key, PEM.")] = None,
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    once: Annotated[
        bool, typer.Option("--once", help="Print what is seen now, and exit; so it is without a terminal.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Watch jobs, communicators, their worst ranks and incidents in a terminal, live.

    Asks a running daemon. Keys: j/k or arrows choose, Enter opens, Esc goes back, ? tells all, q quits. With --url no
    configuration is read.
    """
    from rich.console import Console  # here, and below: other commands need none of it

    from sentinel.top.access import daemon_access, daemon_url
    from sentinel.top.client import DaemonClient
    from sentinel.top.screen import show
    from sentinel.top.snapshot import read_once, snapshot_document, snapshot_text

    interval_seconds = _seconds(interval)
    access = daemon_access(
        url=url if url is not None else daemon_url(read_settings(config, assignments).web),
        username=username,
        password_file=password_file,
        ca_file=ca_file,
        cert_file=cert_file,
        key_file=key_file,
    )
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a job's name may have letters that the terminal's charset has not
    console = Console(markup=False, highlight=False, emoji=False)
    with DaemonClient(access) as client:
        if json:
            print_json(snapshot_document(read_once(client), client.url))
        elif once or not sys.stdin.isatty() or not console.is_terminal or console.is_dumb_terminal:
            if not console.is_terminal:
                console = Console(markup=False, highlight=False, emoji=False, width=_PIPE_COLUMNS)
            console.print(snapshot_text(read_once(client), client.url))
        else:
            show(client, console, sys.stdin.fileno(), interval_seconds)


def _seconds(text: str) -> float:
    try:
        seconds = parse_duration(text).total_seconds()
    except ValueError as error:
        raise ConfigError("wrong --interval", why=str(error)) from None
    if seconds < _LEAST_SECONDS:
        raise ConfigError("wrong --interval", why=f"{text} is less than 500ms")
    return seconds
