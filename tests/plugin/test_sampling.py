"""All ranks time the same operations, without talking: seen from NCCL's side, by whose kernels it reported."""

import subprocess
from collections import defaultdict

import orjson
import pytest
from plugin.solo import compile_trace
from plugin.traces import DEMO, recorded

from sentinel.trace import StepRange

TOOL = "nccl-sentinel-solo-player"
# Between decisions about a stream, by NCCL_SENTINEL_SAMPLE.
WINDOWS = {"4/64": 64, "8/128": 128, "2/16": 64}


@pytest.fixture(scope="module")
def native(build):
    return build(targets=("nccl-profiler-sentinel", TOOL))


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    return compile_trace(DEMO / "late1ms", tmp_path_factory.mktemp("scripts"))


def play_all(native, scripts, folder, sample, *arguments):
    """Of each rank the operations of each stream, (comm, name, peer): number -> (kernel reported, plugin took it).

    The ranks start one after another and run side by side.
    """
    processes = []
    for rank, script in enumerate(scripts):
        shared = folder / f"shared{rank}"
        shared.mkdir(parents=True)
        command = [native.tool(TOOL), "--plugin", native.plugin, "--script", script, "--log-operations", *arguments]
        environment = {"NCCL_SENTINEL_DIR": str(shared)} | ({"NCCL_SENTINEL_SAMPLE": sample} if sample else {})
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment))
    ranks = []
    for process in processes:
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        streams = defaultdict(dict)
        for identity, name, peer, number, reported, took in orjson.loads(output)["operations"]:
            streams[identity, name, peer][number] = (bool(reported), bool(took))
        ranks.append(dict(streams))
    return ranks


def timed(stream):
    return {number for number, (_, took) in stream.items() if took}


def expected(stream, sample):
    """Whole until the first decision that knows a rate, which is high here; then in bursts."""
    burst, period = (int(part) for part in sample.split("/"))
    window = WINDOWS[sample]
    known = -(-min(stream) // window) * window + window
    return {number for number in stream if number < known or number % period < burst}


@pytest.mark.parametrize("sample", [None, "4/64", "8/128", "2/16"])
@pytest.mark.parametrize("interface", ["4", "5", "7"])
def test_ranks_choose_alike(native, scripts, tmp_path, sample, interface):
    arguments = ("--interface", interface, "--callbacks", "30000")
    ranks = play_all(native, scripts, tmp_path, sample, *arguments)
    by_stream = defaultdict(list)
    for streams in ranks:
        assert len(streams) == 4
        for key, stream in streams.items():
            assert max(stream) > 300
            assert timed(stream) == expected(stream, sample or "4/64"), key
            assert all(reported for reported, took in stream.values() if took)
            by_stream[key].append(timed(stream))
    assert all(each == everybodys[0] for everybodys in by_stream.values() for each in everybodys)
    assert {len(everybodys) for everybodys in by_stream.values()} == {8, 4}


def test_default_is_cheap_for_nccl_too(native, scripts, tmp_path):
    """NCCL has one mask for all communicators: what it reports besides what was chosen must be little."""
    for streams in play_all(native, scripts, tmp_path, None, "--callbacks", "60000"):
        operations = [seen for stream in streams.values() for number, seen in stream.items() if number >= 128]
        reported = sum(each for each, _ in operations)
        assert 0 < reported < 0.15 * len(operations)


@pytest.mark.parametrize(("sample", "share"), [("all", 1.0), ("off", 0.0)])
def test_all_and_nothing(native, scripts, tmp_path, sample, share):
    for streams in play_all(native, scripts, tmp_path, sample, "--callbacks", "30000"):
        for stream in streams.values():
            assert len(timed(stream)) == share * len(stream)


def test_few_operations_are_all_timed(native, tmp_path):
    # Recorded at some 270 operations a second in each stream; a tenth of that is few.
    scripts = compile_trace(DEMO / "late1ms", tmp_path / "scripts", StepRange(0, 140))
    for streams in play_all(native, scripts[:2], tmp_path, None, "--pace", "0.1"):
        for stream in streams.values():
            assert max(stream) > 128
            assert timed(stream) == set(stream)


def test_both_ends_of_a_pair_choose_alike(native, tmp_path):
    scripts = compile_trace(recorded("p2p_late6"), tmp_path / "scripts")
    ranks = play_all(native, scripts, tmp_path, None, "--callbacks", "60000")
    pairs = [
        (rank, peer, identity)
        for rank, streams in enumerate(ranks)
        for identity, name, peer in streams
        if name == "Send"
    ]
    assert len(pairs) >= 8
    for rank, peer, identity in pairs:
        sent, received = ranks[rank][identity, "Send", peer], ranks[peer][identity, "Recv", rank]
        both = sent.keys() & received.keys()
        assert len(both) > 128
        assert timed(sent) & both == timed(received) & both
        assert len(timed(sent)) < 0.5 * len(sent)
