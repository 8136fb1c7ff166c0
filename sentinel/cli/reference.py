"""docs/commands.md, from what `--help` says. `python -m sentinel.cli.reference` prints it."""

import sys
from collections.abc import Iterator
from typing import Any

import typer.main

from sentinel.cli.application import app

__all__ = ["command_reference"]

_WIDTH = 110


def command_reference() -> str:
    """Every command under a heading."""
    lines = ["# Commands", ""]
    for name, text in _pages(typer.main.get_command(app), None, "sentinel"):
        lines += [f"## {name}", "", "```", text.rstrip(), "```", ""]
    return "\n".join(lines)


def _pages(command: Any, parent: Any, name: str) -> Iterator[tuple[str, str]]:
    """The command's page, then those of its subcommands."""
    # Typer brings its own click, under no public name: hence no types.
    context = command.context_class(
        command,
        info_name=name.rpartition(" ")[2],
        parent=parent,
        terminal_width=_WIDTH,
        max_content_width=_WIDTH,
        **command.context_settings,
    )
    yield name, command.get_help(context)
    for inner, subcommand in getattr(command, "commands", {}).items():
        yield from _pages(subcommand, context, f"{name} {inner}")


if __name__ == "__main__":
    sys.stdout.write(command_reference())
