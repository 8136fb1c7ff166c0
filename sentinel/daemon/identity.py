"""Which daemon this is, among all that send to the same Alertmanagers."""

import hashlib
import platform
from pathlib import Path

__all__ = ["instance_id"]

_MACHINE_ID = Path("/etc/machine-id")


def instance_id(directory: Path, host: str | None = None, machine_id_file: Path = _MACHINE_ID) -> str:
    """The host's name and a digest of machine and state directory: the same after a restart, another for other daemons.

    One daemon runs on a state directory, and a machine has one directory of that path.
    """
    host = host or platform.node() or "localhost"
    try:
        machine = machine_id_file.read_text(errors="replace").strip()
    except OSError:  # in most containers there is none; there the host's name is the container's
        machine = ""
    digest = hashlib.sha256("\0".join((host, machine, str(directory.resolve()))).encode(errors="replace"))
    return f"{host}-{digest.hexdigest()[:8]}"
