"""A real Dask cluster: a scheduler and workers, each a process of its own, ended by its pid."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import orjson
from servers.process import ending, wait_until

_WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "sentinel":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""


@contextmanager
def dask_process(module: str, *arguments: str, directory: Path, has_package: bool) -> Iterator[subprocess.Popen[bytes]]:
    """`python -m distributed.cli.MODULE`, with or without our package. Its output stays in `directory`."""
    environment = dict(os.environ)
    if not has_package:
        (directory / "without").mkdir(exist_ok=True)
        (directory / "without" / "sitecustomize.py").write_text(_WITHOUT)
        environment["PYTHONPATH"] = str(directory / "without")
    program = [sys.executable, "-m", f"distributed.cli.{module}", *arguments]
    with (directory / f"{module}.log").open("ab") as output:
        process = subprocess.Popen(program, stdout=output, stderr=output, cwd=directory, env=environment)
    with ending(process):
        yield process


@contextmanager
def dask_scheduler(directory: Path) -> Iterator[str]:
    """Its address, on loopback. It does not know our package."""
    told = directory / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(told))
    with dask_process("dask_scheduler", *options, directory=directory, has_package=False):
        wait_until(lambda: told.exists() and told.stat().st_size > 0, "the scheduler is ready")
        yield orjson.loads(told.read_bytes())["address"]


@contextmanager
def dask_workers(
    address: str, directory: Path, count: int, *, has_package: bool = True
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Workers of one thread, known to the scheduler; nobody restarts one that dies."""
    options = ("--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")
    options += ("--local-directory", str(directory))
    log = directory / "dask_worker.log"
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                dask_process("dask_worker", address, *options, directory=directory, has_package=has_package)
            )
            for _ in range(count)
        ]
        wait_until(lambda: log.read_text().count("Registered to") >= count, "all workers are there")
        yield processes
