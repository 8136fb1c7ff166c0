"""The wheel as somebody installs it: built from this checkout, in an environment of its own."""

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "sentinel/native/libnccl-profiler-sentinel.so"
PLAYER = "sentinel/native/nccl-trace-player"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index", f"-Cbuild-dir={folder / 'build'}"]
    command = [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", folder, ROOT]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """A virtual environment with the wheel, which borrows the dependencies of the one that runs the tests."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = folder / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    command = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "--quiet", "--no-index"]
    subprocess.run([*command, "--no-deps", "--ignore-installed", wheel], check=True)
    return folder


def run(environment, *command):
    # Isolated: nothing of the checkout may be found by way of the working directory.
    program = environment / "bin" / command[0]
    return subprocess.run([program, *command[1:]], capture_output=True, text=True, check=False, cwd=environment)


def test_holds_packages_compiled_parts_and_traces(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {PLUGIN, PLAYER, "sentinel/__init__.py", "nccl_exporter/__init__.py", "nccl_endpoint/__init__.py"} <= names
    assert {f"sentinel/demo/traces/late1ms/rank{rank:02}.jsonl.xz" for rank in range(8)} <= names
    page = {
        f"sentinel/page/static/{each}" for each in ("index.html", "main.js", "style.css", "vendor/uPlot.LICENSE.txt")
    }
    assert page <= names
    assert any(name.endswith("dist-info/licenses/LICENSE") for name in names)
    packages = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert packages == {"sentinel", "nccl_exporter", "nccl_endpoint"}


def test_demo_traces_are_small(wheel):
    sizes: dict[str, int] = {}
    for entry in zipfile.ZipFile(wheel).infolist():
        if entry.filename.startswith("sentinel/demo/traces/"):
            name = entry.filename.split("/")[3]
            sizes[name] = sizes.get(name, 0) + entry.file_size
    assert set(sizes) == {"late1ms", "healthy", "stall2", "mixchange"}
    assert max(sizes.values()) <= 1 << 20


def test_installs_commands_that_find_the_compiled_parts(environment):
    result = run(environment, "sentinel", "plugin-path")
    assert result.returncode == 0, result.stderr
    plugin = Path(result.stdout.strip())
    assert plugin.is_file()
    assert plugin.is_relative_to(environment)

    script = "from sentinel.native import player_path; print(player_path())"
    player = Path(run(environment, "python", "-c", script).stdout.strip())
    assert player.is_relative_to(environment)
    assert player.stat().st_mode & 0o111


def test_the_plugin_needs_nothing_beyond_libc(environment):
    plugin = run(environment, "sentinel", "plugin-path").stdout.strip()
    dynamic = subprocess.run(["readelf", "-d", plugin], capture_output=True, text=True, check=True).stdout
    needed = {line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "(NEEDED)" in line}
    assert needed <= {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"}


def test_the_exporter_starts(environment):
    result = run(environment, "nccl-exporter", "--help")
    assert result.returncode == 0, result.stderr
    assert "--source-dir" in result.stdout
