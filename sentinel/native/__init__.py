"""The compiled parts, installed beside this file: the profiler plugin and the trace player."""

from importlib.metadata import distribution
from pathlib import Path

from sentinel.errors import SentinelError

__all__ = ["player_path", "plugin_path"]


def plugin_path() -> Path:
    """The profiler plugin, for NCCL_PROFILER_PLUGIN. SentinelError when it is not installed."""
    return _installed("libnccl-profiler-sentinel.so")


def player_path() -> Path:
    """The program that plays a recorded trace into a profiler plugin. SentinelError when it is not installed."""
    return _installed("nccl-trace-player")


def _installed(name: str) -> Path:
    # Asked of the distribution: in an editable install these are not in the folder of the sources.
    path = Path(str(distribution("nccl-sentinel").locate_file("sentinel/native"))) / name
    if not path.is_file():
        raise SentinelError(
            f"{name} is not installed",
            where=str(path.parent),
            why="the package was installed without its compiled parts",
            hint="Install the wheel for Linux x86-64, or run `make setup` in a checkout",
        )
    return path
