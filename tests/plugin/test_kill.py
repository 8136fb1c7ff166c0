"""A job killed at any instant leaves a file whose counts add up."""

from subprocess import TimeoutExpired

import numpy as np
import pytest
from plugin.fuzzing import fuzzing

KILLS = 100
# What NCCL does: a communicator's operations are launched by one thread, and another one tells of their kernels. Once
# with communicators that stay, once with communicators that come and go.
NCCL = ("--interface", 5, "--chaos", 0, "--owners", 1, "--threads", 4, "--communicators", 4, "--steps", 10**9)
MANNERS = {"steady": ("--lifecycle", 0), "coming and going": ("--lifecycle", 50)}


@pytest.fixture(scope="module")
def native(build):
    return build(targets=("nccl-profiler-sentinel", "nccl-sentinel-fuzz"))


@pytest.mark.timeout(120)
@pytest.mark.parametrize("manners", MANNERS)
@pytest.mark.parametrize("sample", ["all", "4/64"])
def test_counts_add_up_when_the_job_is_killed(native, tmp_path, sample, manners):
    moments = np.random.default_rng(7)
    seen = {"started": 0, "in flight": 0}
    tool, environment = native.tool("nccl-sentinel-fuzz"), {"NCCL_SENTINEL_SAMPLE": sample}
    for number in range(KILLS):
        arguments = (*NCCL, *MANNERS[manners], "--seed", number)
        shared = tmp_path / f"shared{number}"
        with fuzzing(tool, native.plugin, shared, *arguments, environment=environment) as job:
            with pytest.raises(TimeoutExpired):
                job.process.wait(moments.uniform(0.0, 0.03))
            job.process.kill()
            job.process.wait()
            balances = job.mapped().balances().values()
        assert [balance for balance in balances if not balance.holds()] == [], f"kill {number}"
        seen["started"] += sum(balance.started for balance in balances)
        seen["in flight"] += sum(balance.in_flight for balance in balances)
    assert seen["started"] > 100 * KILLS  # it was not killed before it did anything
    assert seen["in flight"] > 0
