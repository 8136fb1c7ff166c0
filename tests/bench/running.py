"""A benchmark in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def started(name: str, *arguments: str, timeout: float | None = None) -> subprocess.CompletedProcess[str]:
    """One that has run, with JSON as its output."""
    environment = os.environ | {"PYTHONPATH": str(HERE.parent), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, HERE / f"{name}.py", *arguments, "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
