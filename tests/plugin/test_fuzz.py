"""Whatever is called, in whatever order, from however many threads: no crash, no race, and the counts add up."""

import pytest
from plugin.fuzzing import fuzzing

PARTS = ("nccl-profiler-sentinel", "nccl-sentinel-fuzz")
CLOCK_GETTIME = "228"
# Only what NCCL does; half nonsense; nearly all nonsense; more of everything than there is room for.
MANNERS = {
    "well-behaved": ("--chaos", 0, "--lifecycle", 0, "--owners", 1),
    "half": ("--chaos", 50, "--lifecycle", 20),
    "nonsense": ("--chaos", 95, "--lifecycle", 200),
    "crowded": ("--chaos", 5, "--communicators", 90, "--names", 120, "--pairs", 12, "--backlog", 3000),
}
STEPS = {"": 100_000, "address,undefined": 20_000, "thread": 8_000}


@pytest.mark.parametrize(("seed", "sample"), [(1, "all"), (2, "4/64")])
@pytest.mark.parametrize("manners", MANNERS)
@pytest.mark.parametrize("sanitize", STEPS)
def test_counts_add_up(build, tmp_path, sanitize, manners, seed, sample):
    native = build(sanitize, PARTS)
    arguments = (*MANNERS[manners], "--seed", seed, "--steps", STEPS[sanitize], "--threads", 4)
    environment = {"NCCL_SENTINEL_SAMPLE": sample}
    tool, shared = native.tool("nccl-sentinel-fuzz"), tmp_path / "shared"
    with fuzzing(tool, native.plugin, shared, *arguments, environment=environment) as job:
        played = job.said()
        before = job.mapped().balances()
        assert [balance for balance in before.values() if not balance.holds()] == []
        if manners == "well-behaved":
            assert sum(balance.started for balance in before.values()) == played["launched"]
            assert sample != "all" or any(balance.measured for balance in before.values())
        job.go_on()
        job.said()
        after = job.mapped().balances()
        assert [balance for balance in after.values() if not balance.holds()] == []
        if manners == "well-behaved":  # a launch while its communicator is being closed may stay in flight
            assert sum(balance.in_flight for balance in after.values()) == 0
        assert sum(balance.started for balance in after.values()) == sum(balance.started for balance in before.values())
        job.go_on()
        assert job.process.wait(60) == 0
    assert list(shared.iterdir()) == []


@pytest.mark.parametrize(
    ("reason", "crowd"),
    [
        ("communicator", ("--communicators", 90)),
        ("operation", ("--names", 40)),
        ("name", ("--names", 120)),
        ("cell", ("--pairs", 12)),
        ("incomplete", ("--backlog", 5000)),
    ],
)
def test_more_than_there_is_room_for_is_counted(build, tmp_path, reason, crowd):
    native = build(targets=PARTS)
    arguments = ("--chaos", 0, "--lifecycle", 0, "--steps", 50_000, *crowd)
    environment = {"NCCL_SENTINEL_SAMPLE": "all"}
    tool, shared = native.tool("nccl-sentinel-fuzz"), tmp_path / "shared"
    with fuzzing(tool, native.plugin, shared, *arguments, environment=environment) as job:
        job.said()
        mapped = job.mapped()
        balances = mapped.balances().values()
        assert [balance for balance in balances if not balance.holds()] == []
        if reason == "communicator":
            assert mapped.dropped_communicators > 1000
        else:
            assert sum((balance.dropped | balance.refused)[reason] for balance in balances) > 1000


@pytest.mark.parametrize("sample", ["all", "4/64"])
def test_threads_in_each_others_way_are_quiet(build, tmp_path, sample):
    """No thread waits for another in the kernel, however many are in one communicator."""
    native = build(targets=PARTS)
    arguments = ("--interface", 5, "--chaos", 0, "--lifecycle", 0, "--communicators", 1, "--threads", 4, "--watch", 1)
    environment = {"NCCL_SENTINEL_SAMPLE": sample}
    tool, shared = native.tool("nccl-sentinel-fuzz"), tmp_path / "shared"
    with fuzzing(tool, native.plugin, shared, *arguments, environment=environment) as job:
        played = job.said()
        assert played["launched"] > 10_000
        assert played["allocations"] == 0
        assert played["system_calls"].keys() <= {CLOCK_GETTIME}  # test_quiet.py knows where that is one
