"""Recorded jobs: those that the demo ships, and more of them where they lie beside the project."""

from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "sentinel/demo/traces"
SHARED = Path(__file__).parents[3] / "shared/traces"


def recorded(name: str, folders: tuple[Path, ...] = (SHARED, DEMO)) -> Path:
    """The folder or file of this name in the first of `folders` that has it; skips the test where none has."""
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    pytest.skip(f"the trace {name} is not here")
