"""How much memory this process had at most."""

from pathlib import Path


def most_resident_bytes() -> int:
    """The peak since the process began. Not getrusage's: that one goes on from the process before exec."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split(maxsplit=1)[0]) * 1024
