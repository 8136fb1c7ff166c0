"""`sentinel check-config`."""

import typer

from sentinel.cli.options import ConfigOption, JsonOption, SetOption, read_settings
from sentinel.cli.output import print_json
from sentinel.config.dialect import refused_notes
from sentinel.config.files import check_files
from sentinel.config.loader import DEFAULT_PATH

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
        path = config or DEFAULT_PATH
        read = str(path) if path.exists() else f"there is no {path}: defaults, environment and flags"
        typer.echo(f"The configuration is fine ({read}).")
        for note in refused_notes(settings.prometheus.dialect):
            typer.echo(f"note: {note}")
