"""`sentinel plugin-path`."""

import typer

from sentinel.native import plugin_path as installed_plugin

__all__ = ["plugin_path"]


def plugin_path() -> None:
    """Print where the installed profiler plugin is: export NCCL_PROFILER_PLUGIN=$(sentinel plugin-path)."""
    typer.echo(installed_plugin())
