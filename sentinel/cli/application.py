"""All commands together."""

import sys
from typing import Annotated

import typer

from sentinel import __version__
from sentinel.cli.advise import advise
from sentinel.cli.backtest import backtest
from sentinel.cli.baseline_build import build
from sentinel.cli.baseline_diff import diff
from sentinel.cli.baseline_show import show
from sentinel.cli.check_config import check_config
from sentinel.cli.demo import demo
from sentinel.cli.explain import explain
from sentinel.cli.plugin_path import plugin_path
from sentinel.cli.run import run
from sentinel.cli.status import status
from sentinel.cli.top import top
from sentinel.config.log import LogSettings
from sentinel.daemon.log import configure_log
from sentinel.errors import SentinelError

__all__ = ["app", "main"]

app = typer.Typer(
    name="sentinel",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_baseline = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Per-rank latency baselines.")
_baseline.command()(build)
_baseline.command()(show)
_baseline.command()(diff)
app.command()(run)
app.add_typer(_baseline, name="baseline")
app.command()(backtest)
app.command()(advise)
app.command("check-config")(check_config)
app.command()(explain)
app.command()(status)
app.command()(top)
app.command()(demo)
app.command("plugin-path")(plugin_path)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nccl-sentinel {__version__}")
        raise typer.Exit


@app.callback()
def sentinel(
    *,
    version: Annotated[  # noqa: ARG001 (its callback acts)
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Find the slow rank in NCCL training jobs, and name it.

    Exit status: 0 fine, 1 findings (where that is the question), 2 wrong usage or configuration, 3 a server could not
    be reached.
    """
    configure_log(LogSettings())


def main() -> None:
    """Run a command; errors become one message on stderr and an exit status."""
    try:
        app()
    except SentinelError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
