"""`sentinel check-config`."""

import typer

from sentinel.cli.options import ConfigOption, JsonOption, SetOption, read_settings
from sentinel.cli.output import print_json
from sentinel.config.dialect import refused_notes
from sentinel.config.files import check_files

__all__ = ["check_config"]


def check_config(config: ConfigOption = None, assignments: SetOption = None, *, json: JsonOption = False) -> None:
    """Validate the configuration, and the files that it names; contact nobody.

    With --json, print the configuration as it holds: defaults, file, environment and flags together.
    """
    settings = read_settings(config, assignments)
    check_files(settings)
    if json:
        print_json(settings.model_dump(mode="json"))
    else:
        typer.echo("The configuration is fine.")
        for note in refused_notes(settings.prometheus.dialect):
            typer.echo(f"note: {note}")
