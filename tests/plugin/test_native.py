"""The native cases, each in a process and a directory of its own, through both versions of the interface."""

import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "plugin/tests"
CASES = sorted(
    re.findall(r"^CASE\((\w+)\)", "\n".join(p.read_text() for p in SOURCES.glob("*_cases.cc")), re.MULTILINE)
)
SANITIZERS = ("address,undefined", "thread")


def run(program: Path, case: str, version: int, directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "NCCL_SENTINEL_DIR": str(directory)}
    done = subprocess.run(
        [program, case, str(version)], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, f"{case} {version}: {done.returncode}\n{done.stderr}"


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("case", CASES)
def test_case(native, case, version, tmp_path):
    run(native.tool("nccl-sentinel-tests"), case, version, tmp_path / "directory")


def test_no_case_is_left_out(native):
    listed = subprocess.check_output([native.tool("nccl-sentinel-tests"), "--list"], text=True).split()
    assert listed == CASES


@pytest.mark.parametrize("sanitizers", SANITIZERS)
def test_sanitizers_find_nothing(build, sanitizers, tmp_path):
    program = build(sanitizers, ("nccl-sentinel-tests",)).tool("nccl-sentinel-tests")
    listed = subprocess.check_output([program, "--list"], text=True).split()
    assert set(CASES) - set(listed) == {"callbacks_make_no_system_call"}
    for case in listed:
        for version in (4, 5):
            run(program, case, version, tmp_path / f"{case}-{version}")
