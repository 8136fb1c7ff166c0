"""The programs that read what is shipped."""

import subprocess

import pytest
from servers.process import find_program


def tool(*names: str) -> str:
    """Where a program is, under one of its names; without it the test is skipped, and says so."""
    try:
        return find_program(*names)
    except FileNotFoundError:
        pytest.skip(f"there is no {' or '.join(names)} on this machine")


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """What a program says, whatever its exit status."""
    return subprocess.run([str(each) for each in arguments], capture_output=True, text=True, check=False)
