"""The native cases, each in a process and a directory of its own, through the versions of the interface it names."""

import os
import re
import subprocess
from itertools import cycle
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "plugin/tests"
USUAL_VERSIONS = (4, 5, 7)
SANITIZERS = ("address,undefined", "thread")


def cases() -> dict[str, tuple[int, ...]]:
    """By name, the versions; as `CASE(name)` and `CASE_OF(name, versions)` say in the sources."""
    text = "\n".join(path.read_text() for path in sorted(SOURCES.glob("*_cases.cc")))
    found = re.findall(r"^CASE(?:_OF)?\((\w+)((?:, \d)*)\)", text, re.MULTILINE)
    return {name: tuple(map(int, re.findall(r"\d", versions))) or USUAL_VERSIONS for name, versions in found}


CASES = cases()


def listed(program: Path) -> dict[str, tuple[int, ...]]:
    lines = subprocess.check_output([program, "--list"], text=True).splitlines()
    return {name: tuple(map(int, versions)) for name, *versions in map(str.split, lines)}


def run(program: Path, case: str, version: int, directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    environment = {
        "PATH": os.environ["PATH"],
        "NCCL_SENTINEL_DIR": str(directory),
        "NCCL_SENTINEL_SAMPLE": "all",
        "NCCL_SENTINEL_BUDGET": "off",  # a slow machine must not change what is sampled
    }
    done = subprocess.run(
        [program, case, str(version)], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, f"{case} {version}: {done.returncode}\n{done.stderr}"


@pytest.mark.parametrize(("case", "version"), [(case, version) for case in CASES for version in CASES[case]])
def test_case(native, case, version, tmp_path):
    run(native.tool("nccl-sentinel-tests"), case, version, tmp_path / "directory")


def test_no_case_is_left_out(native):
    assert listed(native.tool("nccl-sentinel-tests")) == CASES


@pytest.mark.parametrize("sanitizers", SANITIZERS)
def test_sanitizers_find_nothing(build, sanitizers, tmp_path):
    """Each case through one of its versions, a different one for each of its neighbours."""
    program = build(sanitizers, ("nccl-sentinel-tests",)).tool("nccl-sentinel-tests")
    found = listed(program)
    assert CASES.keys() - found.keys() == {"callbacks_make_no_system_call"}
    for (case, versions), turn in zip(found.items(), cycle(range(3)), strict=False):
        run(program, case, versions[turn % len(versions)], tmp_path / case)
