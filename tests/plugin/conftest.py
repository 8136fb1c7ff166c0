"""The native parts, built once for all tests, and processes that use the plugin as a training job does."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TOOLS = (
    "nccl-sentinel-tests",
    "nccl-sentinel-layout",
    "nccl-sentinel-golden",
    "nccl-sentinel-fuzz",
    "nccl-sentinel-solo-player",
)
TARGETS = ("nccl-profiler-sentinel", "nccl-profiler-empty", "nccl-profiler-loud", "fake-cuda", "fake-nccl", *TOOLS)


class Build:
    """A folder with what CMake built."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plugin = folder / "plugin/libnccl-profiler-sentinel.so"
        self.cuda = folder / "plugin/tests/libcuda.so.1"
        self.nccl = folder / "plugin/tests/libnccl.so.2"

    def tool(self, name: str) -> Path:
        return next(path for path in (self.folder / "plugin").glob(f"*/{name}") if path.is_file())


@pytest.fixture(scope="session")
def build(pytestconfig: pytest.Config) -> Callable[..., Build]:
    """Builds with the given sanitizers; the folder is kept between runs, so that only changes cost time."""

    def build(sanitize: str = "", targets: tuple[str, ...] = TARGETS) -> Build:
        folder = pytestconfig.cache.mkdir(f"native-{sanitize or 'plain'}")
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # xdist's workers share the folder
            cmake = shutil.which("cmake", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
            assert cmake is not None
            options = ["-DNCCL_SENTINEL_BUILD_TESTS=ON", f"-DNCCL_SENTINEL_SANITIZE={sanitize}"]
            for command in (
                [cmake, "-S", ROOT, "-B", folder / "build", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", *options],
                [cmake, "--build", folder / "build", "--parallel", "2", "--target", *targets],
            ):
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                assert done.returncode == 0, done.stdout + done.stderr
        return Build(folder / "build")

    return build


@pytest.fixture(scope="session")
def native(build: Callable[..., Build]) -> Build:
    return build()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    folder = tmp_path / "shared"
    folder.mkdir()
    return folder


class Job:
    """A process with the plugin loaded, told what to do line by line (see job.py)."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.pid = process.pid

    def tell(self, action: str, *arguments: object) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([action, *arguments]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self) -> list[str]:
        """Lets it exit by itself; the lines that it wrote through NCCL's logger: level, subsystem, text."""
        _, log = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, log
        return log.splitlines()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=60)


@pytest.fixture
def start_job(native: Build, directory: Path) -> Iterator[Callable[..., Job]]:
    """Starts jobs; `environment` comes on top of NCCL_SENTINEL_DIR, and options go to the process."""
    with ExitStack() as jobs:

        def start(*, version: int = 5, environment: dict[str, str] | None = None, **options: Any) -> Job:
            command = [sys.executable, HERE / "job.py", native.plugin, native.nccl, native.cuda, str(version)]
            variables = {"NCCL_SENTINEL_DIR": str(directory), "PATH": os.environ["PATH"]} | (environment or {})
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            process = subprocess.Popen(command, env=variables, text=True, **pipes, **options)
            jobs.enter_context(process)
            jobs.callback(process.kill)
            return Job(process)

        yield start
