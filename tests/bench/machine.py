"""What a benchmark ran on, and with what."""

import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

_HIGH_WATER = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)
_MODEL = re.compile(r"^model name\s*:\s*(.+)", re.MULTILINE)


def machine(*packages: str) -> str:
    """Processor, memory and versions."""
    model = _MODEL.search(Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    cores, memory = len(os.sched_getaffinity(0)), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    programs = ", ".join((f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)))
    return f"{cores} cores of {model[1] if model else platform.machine()}, {memory:.0f} GiB; {programs}"


def most_resident_bytes(pid: int | str = "self") -> int:
    """The most that was ever resident of a process that lives.

    Not getrusage's: that one goes on from the process before exec.
    """
    found = _HIGH_WATER.search(Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
    return 1024 * int(found[1]) if found else 0
