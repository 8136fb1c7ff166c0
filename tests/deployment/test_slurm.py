"""The scripts for Slurm, run as Slurm would run them: without a search path, with its variables."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from deployment.rule_files import CONFIG
from deployment.tool import run, tool
from nccl_exporter import layout
from servers.process import wait_until

import sentinel.demo
from sentinel.native import player_path, plugin_path
from sentinel.trace import StepRange, compile_scripts, read_trace

SLURM = CONFIG / "slurm"
SCRIPTS = sorted(SLURM.iterdir())
GUIDE = (CONFIG.parent / "docs" / "deployment-slurm.md").read_text(encoding="utf-8")
TRACE = Path(sentinel.demo.__file__).with_name("traces") / "healthy"
SOMEBODY = 54321


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: file.name)
def test_bash_takes_it(script: Path) -> None:
    done = run("bash", "-n", script)
    assert (done.returncode, done.stderr) == (0, "")
    assert os.access(script, os.X_OK)
    assert script.name in GUIDE


def task_environment(script: Path, environment: dict[str, str]) -> dict[str, str]:
    """A task's environment after its prolog, as Slurm reads it."""
    done = subprocess.run([script], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    told = [re.fullmatch(r"export (\w+)=(\S+)", line) for line in done.stdout.splitlines()]
    return environment | {each[1]: each[2] for each in told if each}


def prolog_for(plugin: Path, folder: Path) -> Path:
    """The shipped one, for a plugin in another place."""
    text = (SLURM / "task-prolog.sh").read_text(encoding="utf-8")
    (installed,) = re.findall(r"^plugin=(\S+)$", text, re.MULTILINE)
    assert installed in GUIDE
    script = folder / "task-prolog.sh"
    script.write_text(text.replace(installed, str(plugin)))
    script.chmod(0o755)
    return script


@pytest.fixture
def prolog(tmp_path: Path) -> Path:
    """With the plugin where it is on this machine."""
    return prolog_for(plugin_path(), tmp_path)


def test_a_task_gets_the_plugin(prolog: Path) -> None:
    slurm = {"SLURM_JOB_ID": "4711", "SLURM_PROCID": "0"}
    assert task_environment(prolog, slurm) == slurm | {"NCCL_PROFILER_PLUGIN": str(plugin_path())}


def test_who_has_chosen_keeps_it(prolog: Path) -> None:
    slurm = {"SLURM_JOB_ID": "4711", "NCCL_PROFILER_PLUGIN": "none"}
    assert task_environment(prolog, slurm) == slurm


def test_without_the_plugin_a_task_is_left_alone(tmp_path: Path) -> None:
    prolog = prolog_for(tmp_path / "nowhere" / "plugin.so", tmp_path)
    assert task_environment(prolog, {"SLURM_JOB_ID": "4711"}) == {"SLURM_JOB_ID": "4711"}


def job_of(file: Path) -> str:
    text = file.read_bytes()
    if len(text) < layout.HEADER.itemsize:  # just being made
        return ""
    return bytes(np.frombuffer(text, layout.HEADER, 1)["job_id"][0]).partition(b"\0")[0].decode()


def end_job(directory: Path, job: str, user: int | None = None) -> None:
    """What slurmd does when a job has ended on its node."""
    environment = {
        "SLURM_JOB_ID": job,
        "SLURM_JOB_UID": str(os.geteuid() if user is None else user),
        "NCCL_SENTINEL_DIR": str(directory),
    }
    done = subprocess.run([SLURM / "epilog.sh"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture
def killed(prolog: Path, tmp_path: Path) -> Path:
    """The file that a task of job 4711 with the prolog's environment left behind when it was killed."""
    sources = tmp_path / "sources"
    sources.mkdir()
    script = compile_scripts(read_trace(TRACE), {"all": StepRange(0, 4)}, tmp_path)[0]
    slurm = {"SLURM_JOB_ID": "4711", "SLURM_PROCID": "0", "NCCL_SENTINEL_DIR": str(sources)}
    environment = task_environment(prolog, slurm)
    command = [player_path(), "--plugin", environment["NCCL_PROFILER_PLUGIN"], "--script", script]
    command += ["--segment", "all", "--start-at", "now"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment) as task:
        try:
            wait_until(lambda: any(job_of(each) for each in sources.glob("*.nccl-sentinel")), "the plugin's file")
        finally:
            task.kill()
    (file,) = sources.iterdir()
    return file


def test_the_epilog_removes_what_a_killed_task_left(killed: Path) -> None:
    assert job_of(killed) == "4711"
    other = killed.with_name(f"1-1{layout.FILE_SUFFIX}")
    other.write_bytes(killed.read_bytes().replace(b"4711\0", b"4712\0", 1))
    longer = killed.with_name(f"2-2{layout.FILE_SUFFIX}")
    longer.write_bytes(killed.read_bytes().replace(b"4711\0\0", b"47110\0", 1))
    newer = killed.with_name(f"3-3{layout.FILE_SUFFIX}")
    newer.write_bytes(layout.MAGIC + b"\x63\0\0\0" + killed.read_bytes()[12:])
    for strange in ("4-4", "5-5"):
        killed.with_name(f"{strange}{layout.FILE_SUFFIX}").symlink_to(other if strange == "4-4" else "/nowhere")
    os.mkfifo(killed.with_name(f"6-6{layout.FILE_SUFFIX}"))
    killed.with_name("notes").write_bytes(killed.read_bytes())

    before = set(killed.parent.iterdir())
    end_job(killed.parent, "4711")
    assert before - set(killed.parent.iterdir()) == {killed}


@pytest.fixture
def shared() -> Iterator[Path]:
    """A directory of all users, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o1777)
        yield Path(directory)


def test_the_epilog_is_the_jobs_user(killed: Path, shared: Path) -> None:
    tool("setpriv")
    if os.geteuid() != 0:
        pytest.skip("only root may be somebody else")
    mine, theirs = shared / killed.name, shared / f"1-1{layout.FILE_SUFFIX}"
    for file, owner in ((mine, SOMEBODY), (theirs, SOMEBODY + 1)):
        file.write_bytes(killed.read_bytes())
        os.chown(file, owner, owner)
    end_job(shared, "4711", SOMEBODY)
    assert (mine.exists(), theirs.exists()) == (False, True)


def test_an_epilog_without_anything_to_do_says_nothing(tmp_path: Path) -> None:
    end_job(tmp_path, "4711")
    end_job(tmp_path / "missing", "4711")
    assert run("env", "-i", SLURM / "epilog.sh").returncode == 0
