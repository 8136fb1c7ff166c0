"""A server started for a test: on a free loopback port, in a directory of its own, ended by its pid."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

DEADLINE_SECONDS = 30.0
TOOLS = Path(__file__).resolve().parents[2] / ".tools"


def find_program(*names: str) -> str:
    """The path of an installed program under one of its names."""
    path = os.pathsep.join([str(TOOLS / "bin"), str(TOOLS / "test" / "bin"), os.environ.get("PATH", "")])
    for name in names:
        found = shutil.which(name, path=path)
        if found:
            return found
    raise FileNotFoundError(f"no {' or '.join(names)} in {TOOLS} or on PATH: run `make setup`")


def free_port() -> int:
    """A loopback port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(condition: Callable[[], bool], what: str, seconds: float = DEADLINE_SECONDS) -> None:
    """Poll a real process until it has done what is waited for; fail past the deadline."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        time.sleep(0.02)


@contextmanager
def ending(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """End a process afterwards, by force where it does not end by itself."""
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def running(arguments: Sequence[str], directory: Path, ready_url: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server, wait until it says that it is ready, and end it afterwards. Its output stays in `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    log = directory / "output.log"
    with log.open("wb") as output:
        process = subprocess.Popen(arguments, cwd=directory, stdout=output, stderr=output)
    with ending(process):
        wait_until(lambda: _ready(process, ready_url, log), f"{arguments[0]} is ready")
        yield process


def _ready(process: subprocess.Popen[bytes], url: str, log: Path) -> bool:
    if process.poll() is not None:
        raise RuntimeError(f"{process.args!r} ended with {process.returncode}:\n{log.read_text()[-2000:]}")
    try:
        return httpx.get(url, timeout=5.0, trust_env=False).is_success
    except httpx.TransportError:
        return False
