"""The plugin's counts, read off a page of the exporter."""

from gpu.pair.counts import Counts, parse

PAGE = """\
# TYPE nccl_collective_operations_total counter
nccl_collective_operations_total{comm="ab",rank="0",op="AllReduce",size="65536",algo="RING",proto="LL"} 3
nccl_collective_operations_total{comm="ab",rank="0",op="AllGather",size="65536",algo="RING",proto="LL"} 4
# TYPE nccl_collective_started_total counter
nccl_collective_started_total{comm="ab",rank="0",op="AllReduce"} 50
nccl_collective_started_total{comm="ab",rank="1",op="AllReduce"} 60
# TYPE nccl_profiler_samples_refused_total counter
nccl_profiler_samples_refused_total{comm="ab",rank="0",reason="zero"} 1
nccl_profiler_samples_refused_total{comm="ab",rank="0",reason="graph"} 2
# TYPE nccl_profiler_operations_skipped_total counter
nccl_profiler_operations_skipped_total{comm="ab",rank="0"} 38
# TYPE nccl_profiler_callback_seconds_total counter
nccl_profiler_callback_seconds_total{comm="ab",rank="0"} 0.25
"""


def test_counts_are_summed_by_communicator_and_rank() -> None:
    counts = parse(PAGE)
    assert counts[("ab", 0)] == Counts(started=50, measured=7, skipped=38, refused=3, callback_seconds=0.25)
    assert counts[("ab", 0)].open == 2
    assert counts[("ab", 1)] == Counts(started=60)
    assert counts[("ab", 0)] - Counts(started=20, measured=7) == Counts(30, 0, 38, 3, 0, 0.25)
