"""Between the end of init and finalize the plugin makes no system call and allocates nothing: counted, not assumed."""

import pytest
from plugin.solo import compile_trace, play
from plugin.traces import recorded

from sentinel.trace import StepRange

CLOCK_GETTIME, GETPPID = "228", "110"
STEPS = StepRange(0, 70)  # past the first decision about sampling


@pytest.fixture(scope="module")
def native(build):
    return build(targets=("nccl-profiler-sentinel", "nccl-profiler-loud", "nccl-sentinel-solo-player"))


@pytest.fixture(scope="module", params=["late1ms", "p2p_late6", "pipe_late1", "graph_late1"])
def script(request, tmp_path_factory):
    """One rank; the traces have collectives, sends, network steps, replayed graphs."""
    return compile_trace(recorded(request.param), tmp_path_factory.mktemp("scripts"), STEPS)[1]


@pytest.mark.parametrize("sample", ["all", "4/64"])
@pytest.mark.parametrize("interface", [1, 4, 5, 7])
def test_callbacks_are_quiet(native, script, tmp_path, interface, sample):
    said = play(
        native.tool("nccl-sentinel-solo-player"),
        native.plugin,
        script,
        tmp_path / "shared",
        *("--interface", interface, "--callbacks", 20_000),
        environment={"NCCL_SENTINEL_SAMPLE": sample},
    )
    assert said["callbacks"] >= 20_000
    assert said["allocations"] == 0
    assert said["threads"] == 0
    # Where the machine's clock source has no vDSO, glibc falls back to the system call.
    allowed = {CLOCK_GETTIME} if said["clock_is_system_call"] else set()
    assert not said["system_calls"].keys() - allowed


def test_a_plugin_that_is_not_quiet_is_caught(native, script, tmp_path):
    loud = native.folder / "plugin/bench/libnccl-profiler-loud.so"
    said = play(native.tool("nccl-sentinel-solo-player"), loud, script, tmp_path / "shared", "--interface", 5)
    assert said["allocations"] > 1000
    assert said["system_calls"][GETPPID] > 1000
