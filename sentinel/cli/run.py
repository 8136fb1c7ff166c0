"""`sentinel run`."""

import time
from typing import Annotated

import typer

from sentinel.cli.options import ConfigOption, SetOption, read_settings
from sentinel.config.files import check_files
from sentinel.config.settings import Settings
from sentinel.daemon.service import run_forever, run_once

__all__ = ["run"]


def run(
    config: ConfigOption = None,
    assignments: SetOption = None,
    *,
    once: Annotated[bool, typer.Option("--once", help="Do one tick and exit: with 1 if an incident is open.")] = False,
) -> None:
    """Run the daemon.

    It looks at the series every tick, keeps incidents and sends alerts, until SIGTERM or SIGINT. SIGHUP makes it read
    its configuration again.
    """

    def read() -> Settings:
        settings = read_settings(config, assignments)
        check_files(settings)
        return settings

    if not once:
        run_forever(read(), read, time.time)
        return
    report = run_once(read(), time.time)
    if report.error is not None:
        raise report.error
    if report.open_incidents:
        raise typer.Exit(1)
