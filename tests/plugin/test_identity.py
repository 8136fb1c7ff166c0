"""After every recorded trace: started = measured + skipped + refused + dropped + in flight."""

import pytest
from plugin.solo import compile_trace, playing
from plugin.traces import DEMO, SHARED, recorded

from sentinel.trace import StepRange

TRACES = sorted(each.name for each in (SHARED if SHARED.is_dir() else DEMO).iterdir() if each.is_dir())
STEPS = {"healthy_long": StepRange(0, 200)}


@pytest.fixture(scope="module")
def native(build):
    return build(targets=("nccl-profiler-sentinel", "nccl-sentinel-solo-player"))


@pytest.fixture(scope="module")
def script(request, tmp_path_factory):
    return compile_trace(recorded(request.param), tmp_path_factory.mktemp(request.param), STEPS.get(request.param))[1]


def operations_by_communicator(said):
    numbers: dict[int, int] = {}
    for identity, *_ in said["operations"]:
        numbers[int(identity, 16)] = numbers.get(int(identity, 16), 0) + 1
    return numbers


def play_and_check(native, script, directory, interface, sample):
    """The balances after the trace; the script's own events say what was launched."""
    tool = native.tool("nccl-sentinel-solo-player")
    arguments = ("--log-operations", "--callbacks", 30_000, "--interface", interface)
    environment = {"NCCL_SENTINEL_SAMPLE": sample}
    with playing(tool, native.plugin, script, directory, *arguments, environment=environment) as job:
        launched = operations_by_communicator(job.said)
        balances = job.mapped().balances()
        assert launched
        assert {identity: balances[identity].started for identity in launched} == launched
        assert [balance for balance in balances.values() if not balance.holds()] == []
        job.close_communicators()
        closed = job.mapped().balances()
        assert [balance for balance in closed.values() if not balance.holds() or balance.in_flight] == []
        assert {identity: closed[identity].started for identity in launched} == launched
    return balances


@pytest.mark.parametrize("script", TRACES, indirect=True)
@pytest.mark.parametrize("sample", ["all", "4/64"])
def test_every_trace(native, script, tmp_path, sample):
    balances = play_and_check(native, script, tmp_path / "shared", 5, sample)
    assert any(balance.measured for balance in balances.values())
    assert any(balance.skipped for balance in balances.values()) == (sample == "4/64")


@pytest.mark.parametrize("script", ["late1ms", "mixchange"], indirect=True)
@pytest.mark.parametrize("interface", range(1, 8))
@pytest.mark.parametrize("sample", ["all", "4/64", "off"])
def test_every_interface(native, script, tmp_path, interface, sample):
    balances = play_and_check(native, script, tmp_path / "shared", interface, sample)
    for balance in balances.values():
        if sample == "off" and interface >= 4:
            assert balance.skipped == balance.started
        elif interface < 4:  # no GPU timestamps
            assert balance.measured == 0
