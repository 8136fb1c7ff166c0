"""Where the programs are that the demo runs and did not bring: Prometheus and Alertmanager."""

import os
import shutil
import sys
from pathlib import Path

from sentinel.errors import SentinelError

__all__ = ["find_program"]

# What `make setup` unpacks in a checkout, which need not be on the PATH.
_CHECKOUT = Path(__file__).resolve().parents[2] / ".tools" / "bin"


def find_program(*names: str) -> Path:
    """The first of `names` that is installed; several names are the same program's in different packages.

    Looked for beside the running interpreter, on the PATH and in the checkout's `.tools/bin`.
    SentinelError when there is none.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath), str(_CHECKOUT)])
    for name in names:
        if found := shutil.which(name, path=path):
            return Path(found)
    raise SentinelError(
        f"{names[0]} was not found",
        where="PATH",
        why="the demo runs the real one",
        hint="Run `make setup` in a checkout, or on Debian and Ubuntu, as root, "
        "`apt-get install prometheus prometheus-alertmanager`; elsewhere put it on the PATH",
    )
