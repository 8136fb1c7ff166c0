import math
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from nccl_exporter import __version__, catalogue, layout
from nccl_exporter.collector import Collector
from nccl_exporter.layout import OperationKind, SlotState
from nccl_exporter.model import Communicator, Process
from nccl_exporter.ras.status import RasStatus

SECOND = 1_000_000_000
RANK = {"comm": "0000000000000abc", "rank": "0"}
OPERATION = {**RANK, "op": "AllReduce"}
CELL = {**OPERATION, "size": "1048576", "algo": "RING", "proto": "LL128"}
PEER = {**RANK, "op": "Send", "peer": "1", "size": "1048576"}

CHANNEL_OPERATIONS = "nccl_channel_operations_total"
LOG_REMARK = 'nccl_collective_log_microseconds_total use base unit "seconds" instead of "microseconds"'


def checked(promtool: str, text: str) -> list[str]:
    """What promtool says of the page; it reads the page first, so a page that is not well formed fails here as well."""
    answer = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    return [*answer.stdout.splitlines(), *answer.stderr.splitlines()]


@pytest.fixture
def collector(source_dir: Path, clock: Any) -> Collector:
    return Collector([source_dir], clock, ras=always_missing)


@pytest.fixture
def get(collector: Collector, series: Callable[[str], Any]) -> Callable[..., Any]:
    """The value of one series of a new scrape; None when it is not there."""

    def ask(name: str, **labels: str) -> Any:
        return series(collector.collect()).get((name, tuple(sorted(labels.items()))))

    return ask


def always_missing(claims: Sequence[tuple[Process, Communicator]]) -> list[RasStatus]:
    """What a RAS service would say that misses everybody."""
    return [RasStatus(communicator.id, communicator.rank, "missing", True) for _, communicator in claims]


@pytest.fixture
def busy_file(make_file: Callable[..., Any], clock: Any) -> Any:
    """A process with something in every family."""
    file = make_file()
    file.header["global_rank"], file.header["governor_level"] = 11, 2
    file.header["dropped"][:] = [1, 2, 3, 4, 5, 6]
    for field, value in (("job_id", 'job "7"\\'), ("hostname", "node-ä")):
        file.set_text(file.header, field, value)
    row = file.communicator(name="data parallel")
    file.set_text(row, "gpu_uuid", "GPU-1")
    row["gpu"], row["callbacks"], row["callbacks_timed"], row["callback_ns"] = 3, 900, 10, 5000
    refused = {"negative": 1, "zero": 2, "incomplete": 3, "overwritten": 4, "graph": 5, "untimed": 6}
    file.operation(row, launched=19, skipped=75, **refused)
    file.fly(row, 9, clock.ns - 2 * SECOND, number=18)
    buckets = [0, 1, 2, *[0] * 8, 1]
    file.cell(row, operations=4, duration_ns=8 * SECOND, log_microseconds=42.5, bytes=4 << 20, buckets=buckets)
    file.operation(row, 1, "Send", kind=OperationKind.POINT_TO_POINT, launched=3, skipped=25)
    file.peer(row, operations=3, duration_ns=6 * SECOND, bytes=3 << 20)
    file.link(row, 0, 1, 0, operations=2, bytes=77, steps=[1, 2, 3], duration_ns=[SECOND, 2 * SECOND, 3 * SECOND])
    file.link(row, 1, 1, 1, operations=2, bytes=88, steps=[4, 5, 6], duration_ns=[4 * SECOND, 5 * SECOND, 6 * SECOND])
    row["channels"][5]["operations"], row["channels"][5]["duration_ns"] = [7, 8], [SECOND, 2 * SECOND]
    return file


def test_every_family(busy_file: Any, get: Callable[..., Any]) -> None:
    info = {
        "global_rank": "11",
        "comm_name": "data parallel",
        "nranks": "2",
        "nnodes": "1",
        "node": "node-ä",
        "gpu": "3",
        "gpu_uuid": "GPU-1",
        "pid": "100",
        "job_id": 'job "7"\\',
        "nccl_version": "2.28.9",
    }
    assert get("nccl_communicator_info", **RANK, **info) == 1
    assert get("nccl_collective_operations_total", **CELL) == 4
    assert get("nccl_collective_seconds_total", **CELL) == 8
    assert get("nccl_collective_log_microseconds_total", **CELL) == 42.5
    assert get("nccl_collective_bytes_total", **OPERATION) == 4 << 20
    assert get("nccl_collective_started_total", **OPERATION) == 100
    assert get("nccl_p2p_operations_total", **PEER) == 3
    assert get("nccl_p2p_seconds_total", **PEER) == 6
    assert get("nccl_p2p_bytes_total", **PEER) == 3 << 20
    assert get("nccl_p2p_started_total", **RANK, op="Send") == 28
    assert get("nccl_oldest_inflight_seconds", **RANK) == pytest.approx(2, abs=2**layout.FLIGHT_TIME_UNIT / SECOND)
    for place, reason in enumerate(layout.REFUSED):
        assert get("nccl_profiler_samples_refused_total", **RANK, reason=reason) == place + 1
    for place, reason in enumerate(layout.DROPPED):
        assert get("nccl_profiler_events_dropped_total", reason=reason) == place + 1
    assert get("nccl_profiler_operations_skipped_total", **RANK) == 100
    assert get("nccl_profiler_callback_seconds_total", **RANK) == 0.0005
    assert get("nccl_profiler_callbacks_total", **RANK) == 1000
    assert get("nccl_profiler_sampling_ratio", **RANK) == 7 / 128
    assert get("nccl_profiler_governor_level", **RANK) == 2
    assert get("nccl_exporter_build_info", version=__version__, layout="2") == 1
    assert get("nccl_exporter_scrape_duration_seconds") == 0  # this clock stands still
    assert get("nccl_exporter_sources", state="live") == 1
    assert get("nccl_exporter_directories_unreadable") == 0
    assert get("nccl_exporter_rows_torn_total") == 0


@pytest.mark.parametrize(
    ("direction", "size", "states"),
    [
        ("send", 77, {"gpu_wait": (1, 1), "peer_wait": (2, 2), "wire": (3, 3)}),
        ("recv", 88, {"wire": (4, 4), "flush": (5, 5), "gpu_wait": (6, 6)}),
    ],
)
def test_network(
    busy_file: Any, get: Callable[..., Any], direction: str, size: int, states: dict[str, tuple[int, int]]
) -> None:
    link = {**RANK, "peer": "1", "direction": direction}
    assert get("nccl_network_bytes_total", **link) == size
    for state, (steps, seconds) in states.items():
        assert get("nccl_network_steps_total", **link, state=state) == steps
        assert get("nccl_network_step_seconds_total", **link, state=state) == seconds


def test_channels(busy_file: Any, get: Callable[..., Any]) -> None:
    for transport, operations, seconds in (("p2p", 7, 1), ("net", 8, 2)):
        assert get("nccl_channel_operations_total", **RANK, channel="5", transport=transport) == operations
        assert get("nccl_channel_seconds_total", **RANK, channel="5", transport=transport) == seconds
    assert get("nccl_channel_operations_total", **RANK, channel="4", transport="net") is None


def test_ras_is_asked_about_what_is_published(
    make_file: Callable[..., Any], source_dir: Path, clock: Any, series: Callable[[str], Any]
) -> None:
    for pid in (1, 2):
        make_file(str(pid), pid=pid, start_monotonic_ns=pid).communicator()
    asked: list[int] = []

    def ras(claims: Sequence[tuple[Process, Communicator]]) -> list[RasStatus]:
        asked.extend(process.pid for process, _ in claims)
        return 2 * [RasStatus(0xABC, 1, "behind", True), RasStatus(0xABC, 0, "behind", False)]

    found = series(Collector([source_dir], clock, ras=ras).collect())
    assert asked == [2]  # the newer one has the place
    assert {labels: value for (name, labels), value in found.items() if name == "nccl_ras_rank_status"} == {
        (("comm", "0000000000000abc"), ("rank", "0"), ("status", "behind")): 0,
        (("comm", "0000000000000abc"), ("rank", "1"), ("status", "behind")): 1,
    }


def test_histogram_is_cumulative_and_in_seconds(busy_file: Any, get: Callable[..., Any]) -> None:
    name = "nccl_collective_duration_seconds"
    counts = [get(f"{name}_bucket", **OPERATION, le=str(bound / 1e9)) for bound in layout.BUCKET_BOUNDS_NS]
    assert counts == [0, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3]
    assert get(f"{name}_bucket", **OPERATION, le="+Inf") == 4
    assert get(f"{name}_count", **OPERATION) == 4
    assert get(f"{name}_sum", **OPERATION) == 8


def test_page_has_what_the_catalogue_says(busy_file: Any, collector: Collector, series: Callable[[str], Any]) -> None:
    text = collector.collect()
    for family in catalogue.CATALOGUE:
        assert f"# HELP {family.name} {family.help}\n# TYPE {family.name} {family.kind}\n" in text
    labels: dict[str, set[tuple[str, ...]]] = {}
    for name, pairs in series(text):
        labels.setdefault(name, set()).add(tuple(label for label, _ in pairs))
    for family in catalogue.CATALOGUE:
        if family.kind == "histogram":
            assert labels.pop(f"{family.name}_bucket") == {tuple(sorted((*family.labels, "le")))}
            assert labels.pop(f"{family.name}_sum") == labels.pop(f"{family.name}_count")
        else:
            assert labels.pop(family.name) == {tuple(sorted(family.labels))}
    assert labels == {}


def test_promtool_has_one_remark(busy_file: Any, collector: Collector, promtool: str) -> None:
    """It takes the unit in the name of a sum of logarithms for the unit of the sum."""
    assert checked(promtool, collector.collect()) == [LOG_REMARK]


def test_nothing_known_is_empty(make_file: Callable[..., Any], collector: Collector) -> None:
    file = make_file()
    file.header["nccl_version"] = 0
    file.communicator(rank=1)
    text = collector.collect()
    assert 'gpu="",gpu_uuid="",pid="100",job_id="",nccl_version=""' in text
    assert "sampling_ratio" not in text


def test_global_rank_is_the_rank_in_the_largest_communicator(
    make_file: Callable[..., Any], collector: Collector
) -> None:
    file = make_file()
    file.communicator(0, comm=1, rank=1, nranks=2)
    file.communicator(1, comm=2, rank=5, nranks=8)
    assert collector.collect().count('global_rank="5"') == 2


def test_ended_process_vanishes_and_its_dropped_events_stay(
    busy_file: Any, get: Callable[..., Any], holder: Any
) -> None:
    assert get("nccl_collective_started_total", **OPERATION) == 100
    holder.kill()
    assert get("nccl_collective_started_total", **OPERATION) is None
    assert get("nccl_exporter_sources", state="dead") == 1
    assert get("nccl_profiler_events_dropped_total", reason="contention") == 6


def test_newer_process_has_the_place(make_file: Callable[..., Any], get: Callable[..., Any]) -> None:
    for stem, pid, start in (("1", 1, 10), ("2", 2, 30), ("3", 3, 20)):
        file = make_file(stem, pid=pid, start_monotonic_ns=start)
        file.operation(file.communicator(), launched=pid)
    assert get("nccl_collective_started_total", **OPERATION) == 2
    assert get("nccl_exporter_rows_rejected_total", reason="duplicate") == 4  # two in each of two scrapes


def test_newer_communicator_of_one_process_has_the_place(
    make_file: Callable[..., Any], get: Callable[..., Any]
) -> None:
    file = make_file()
    for slot, opened in ((0, 20), (1, 10)):
        row = file.communicator(slot)
        row["opened_unix_ns"] = opened
        file.operation(row, launched=opened)
    assert get("nccl_collective_started_total", **OPERATION) == 20


def test_full_page_leaves_newcomers_out_and_counts_their_series(
    make_file: Callable[..., Any], source_dir: Path, clock: Any, series: Callable[[str], Any]
) -> None:
    for pid in (1, 2):
        file = make_file(str(pid), pid=pid, start_monotonic_ns=pid)
        file.communicator(comm=pid)
    found = series(Collector([source_dir], clock, most_series=20).collect())
    assert {dict(labels)["pid"] for name, labels in found if name == "nccl_communicator_info"} == {"1"}
    assert found["nccl_exporter_series_capped_total", (("reason", "exporter"),)] == catalogue.RANK_SERIES


def test_process_past_its_budget_is_folded_and_counted(
    make_file: Callable[..., Any], source_dir: Path, clock: Any, series: Callable[[str], Any], holder: Any
) -> None:
    make_file().communicator()["channels"]["operations"][:, 0] = 1
    collector = Collector([source_dir], clock, series_per_rank=40)
    folded = "nccl_exporter_series_capped_total", (("reason", "folded"),)
    for _ in range(2):
        found = series(collector.collect())
        kept = {dict(labels)["channel"]: value for (name, labels), value in found.items() if name == CHANNEL_OPERATIONS}
        assert 2 <= len(kept) <= 20
        assert kept["other"] == 65 - len(kept)
        assert found[folded] == 2 * kept["other"]
    holder.kill()
    assert series(collector.collect())[folded] == 2 * kept["other"]


def test_bad_rows_are_counted_by_reason(make_file: Callable[..., Any], get: Callable[..., Any]) -> None:
    file = make_file()
    row = file.communicator()
    file.cell(row, 0, power=99, operations=1)
    file.cell(row, 1, operations=1, log_microseconds=math.nan)
    file.cell(row, 2, operations=1)["algorithm"] = 999
    file.cell(row, 3, operations=1, bytes=2**63)
    file.operation(row, kind=9, launched=1)
    file.peer(row, peer=2, operations=1)
    file.link(row, direction=2, operations=1)
    file.fly(row, 0, 1, row=7)
    file.communicator(1, rank=9)
    reasons = ("communicator", "kind", "name", "size", "peer", "direction", "count", "log_sum", "in_flight")
    for scrape, reason in enumerate(reasons, start=1):
        assert get("nccl_exporter_rows_rejected_total", reason=reason) == scrape


def test_row_that_goes_bad_does_not_make_its_series_blink(busy_file: Any, get: Callable[..., Any]) -> None:
    assert get("nccl_collective_operations_total", **CELL) == 4
    busy_file.data["communicators"][0][0]["cells"][0]["counts"]["bytes"] = 2**63
    assert get("nccl_collective_operations_total", **CELL) == 4
    assert get("nccl_exporter_rows_rejected_total", reason="count") == 2


def test_largest_counts(make_file: Callable[..., Any], collector: Collector, promtool: str) -> None:
    file = make_file()
    row = file.communicator()
    most = 2**63 - 1
    row["callbacks"] = row["callback_ns"] = most
    row["callbacks_timed"] = 1
    for index in range(2):
        file.operation(row, index, launched=most, skipped=most, negative=most)
        file.cell(row, index, operations=most, duration_ns=most, bytes=most, log_microseconds=1e20)
        file.link(row, index, index, operations=most, bytes=most, steps=[most] * 3, duration_ns=[most] * 3)
        file.peer(row, index, operations=most, duration_ns=most, bytes=most)
    row["channels"]["operations"] = row["channels"]["duration_ns"] = most
    text = collector.collect()
    assert f'nccl_profiler_operations_skipped_total{{comm="{RANK["comm"]}",rank="0"}} {2 * most}\n' in text
    assert checked(promtool, text) == [LOG_REMARK]


def test_another_exporter_reads_the_same_numbers(
    busy_file: Any, collector: Collector, source_dir: Path, clock: Any
) -> None:
    """A restart loses nothing: all that is counted is in the files."""
    busy_file.count(busy_file.data["communicators"][0][0]["links"][0], bytes=99)
    before = [collector.collect() for _ in range(3)][-1]
    assert Collector([source_dir], clock, ras=always_missing).collect() == before


def test_no_sources_at_all(tmp_path: Path, series: Callable[[str], Any]) -> None:
    found = series(Collector([tmp_path / "missing"]).collect())
    assert all(name.startswith(("nccl_exporter_", "nccl_profiler_events_dropped")) for name, _ in found)
    assert found["nccl_exporter_sources", (("state", "live"),)] == 0
    assert {dict(labels)["state"] for name, labels in found if name == "nccl_exporter_sources"} == set(
        catalogue.SOURCE_STATES
    )


def test_free_slots_of_a_live_file_are_nothing(make_file: Callable[..., Any], collector: Collector) -> None:
    make_file().communicator()["state"] = SlotState.FREE
    assert "nccl_communicator_info" not in collector.collect()
