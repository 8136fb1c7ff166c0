"""Options that commands share."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sentinel.config.environment import value_of
from sentinel.config.faults import without_credentials
from sentinel.config.loader import DEFAULT_PATH, load
from sentinel.config.settings import Settings
from sentinel.errors import ConfigError

__all__ = ["ConfigOption", "JsonOption", "SetOption", "read_settings"]

ConfigOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help=f"Configuration file. [default: {DEFAULT_PATH}, if it exists]")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Set one key of the configuration, as in schedule.tick=10s. Repeatable."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def read_settings(config: Path | None, assignments: Sequence[str] | None) -> Settings:
    """The configuration: file, environment, then `--set`. ConfigError."""
    flags: dict[str, Any] = {}
    for assignment in assignments or ():
        name, equals, text = assignment.partition("=")
        key = tuple(name.strip().split("."))
        if not equals or not all(key):
            raise ConfigError(
                "wrong --set", where=without_credentials(assignment), why="write KEY=VALUE, as in schedule.tick=10s"
            )
        table = flags
        for part in key[:-1]:
            table = table.setdefault(part, {})
            if not isinstance(table, dict):
                where = without_credentials(assignment)
                raise ConfigError("wrong --set", where=where, why=f"{part} has been given a value already")
        table[key[-1]] = value_of(Settings, key, text)
    return load(config, os.environ, flags)
