"""A recorded Inspector text through a real Prometheus: what can be said of it is said, and what cannot is refused."""

import json
import lzma
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from inspector import simulated
from inspector.record import START, record
from inspector.recorded import CULPRIT, END, FAULT, RECORDED, text
from plugin.traces import DEMO
from servers.command import Run
from servers.prometheus import fill, prometheus

from sentinel.config.prometheus import PrometheusSettings
from sentinel.config.settings import Settings
from sentinel.model.snapshot import Snapshot
from sentinel.source.inspector import InspectorSource

TICK = 30
REFUSED = ("stalled", "rank_missing", "slow_link", "imbalance")
# Two half worlds of 4 ranks have one name and one size.
MIXED = "not judged, as communicators of one name and size cannot be told apart: without a name of 4 ranks in job 4711"


def test_the_recorded_text_is_what_the_recorded_job_gives() -> None:
    assert record(DEMO / "late1ms", 4, 10, 6) == lzma.decompress(RECORDED.read_bytes()).decode()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("prometheus")
    fill(directory, text())
    with prometheus(directory) as address:
        yield address


def options(url: str, state: Path) -> tuple[str, ...]:
    keys = {
        "prometheus.url": url,
        "prometheus.dialect": "inspector",
        "state.directory": str(state),
        "schedule.tick": f"{TICK}s",
        "schedule.evaluation_delay": "1s",
        "alertmanager.urls": "",
    }
    return tuple(part for key, value in keys.items() for part in ("--set", f"{key}={value}"))


def test_the_right_gpu_is_late_and_no_rank_is_named(run: Run, url: str, tmp_path: Path) -> None:
    result = run("backtest", "--from", START, "--to", END, "--json", *options(url, tmp_path))
    document = json.loads(result.out)
    (incident,) = document["incidents"]
    assert (result.status, incident["verdict"]) == (1, "late_rank")
    assert ((incident["node"], incident["gpu"]), incident["ranks"]) == (CULPRIT, [])
    assert incident["job_id"] == "4711"
    assert 0.1 < incident["cost_ratio"] < 0.6
    evidence = incident["evidence"]
    assert evidence["lateness_seconds"] == pytest.approx(1.1e-3, rel=0.3)
    assert evidence["cost_is_of"] == "the time inside its communicator's collectives"
    assert evidence["cells"][0]["op"] == "AllGather"
    assert not {"rank_in_communicator", "lost_gpus"} & evidence.keys()
    assert not any("operations" in cell for cell in evidence["cells"])  # nobody counted them

    table = run("backtest", "--from", START, "--to", END, *options(url, tmp_path))
    assert "The process on host1 GPU 1 arrives late at collectives in job 4711" in table.out
    assert f"note: {MIXED}" in table.err
    assert "note: no rank: node and GPU are named instead" in table.err


def test_before_the_fault_nobody_is_named(run: Run, url: str, tmp_path: Path) -> None:
    result = run("backtest", "--from", START, "--to", FAULT - 1, *options(url, tmp_path))
    assert (result.status, result.out) == (0, "")


def test_what_cannot_be_had_is_said_and_switched_off(run: Run, url: str, tmp_path: Path) -> None:
    fine = run("check-config", *options(url, tmp_path))
    assert fine.status == 0
    for verdict in REFUSED:
        assert f"note: no {verdict}: " in fine.out
    document = json.loads(run("check-config", "--json", *options(url, tmp_path)).out)
    enabled = {name: section.get("enabled") for name, section in document["detection"].items() if name in REFUSED}
    assert enabled == dict.fromkeys(REFUSED, False)
    assert document["detection"]["late_rank"]["enabled"] is True

    advice = run("advise", "--from", START, "--to", END, *options(url, tmp_path))
    assert (advice.status, advice.out) == (2, "")
    assert "have no counts" in advice.err


def test_live_it_finds_the_same_and_tells_it_without_a_rank(run: Run, tmp_path: Path) -> None:
    # The recording goes on for three ticks more: who looks after its end sees nothing new.
    later = int(time.time()) // TICK * TICK - (END // TICK - 3) * TICK
    fill(tmp_path, text(later))
    with prometheus(tmp_path) as url:
        chosen = (*options(url, tmp_path / "state"), "--set", "schedule.prime_ticks=40")
        once = run("run", "--once", *chosen)
        assert once.status == 1
        assert "dialect" in once.err
        assert MIXED in once.err
        status = json.loads(run("status", "--json", *chosen).out)
        (incident,) = status["incidents"]
        assert ((incident["node"], incident["gpu"]), incident["ranks"]) == (CULPRIT, [])
        assert MIXED in status["notes"]
        assert any(note.startswith("no stalled: ") for note in status["notes"])
        (world,) = status["communicators"]
        assert (world["nranks"], world["ranks"], world["state"]) == (8, 8, "watching")
        told = run("explain", incident["id"], *chosen).out
        assert "of the time inside its communicator's collectives" in told
        assert "node host1, GPU 1" in told
        assert "rank 1" not in told


@pytest.mark.parametrize(
    ("fault", "verdict", "place"),
    [
        ({}, None, None),
        ({"late_rank": 5}, "late_rank", ("h2", "1")),
        ({"slower_ratio": 1.4}, "slow_fabric", None),
    ],
    ids=["healthy", "late", "slow fabric"],
)
def test_simulated_jobs(
    run: Run, tmp_path: Path, fault: dict[str, float], verdict: str | None, place: tuple[str, str] | None
) -> None:
    dumps, first = 160, 100
    fill(tmp_path, simulated.text(dumps, first, **fault, sends=True))
    with prometheus(tmp_path) as url:
        span = ("--from", START, "--to", START + dumps * TICK - 1)
        result = run("backtest", *span, "--json", *options(url, tmp_path / "state"))
    incidents = json.loads(result.out)["incidents"]
    assert [each["verdict"] for each in incidents] == [verdict] * bool(verdict)
    for incident in incidents:
        assert incident["ranks"] == []
        assert place in (None, (incident["node"], incident["gpu"]))
    assert "note: jobs that send and receive, in which who is late may have waited for another: 1" in result.err


@pytest.mark.parametrize("step", [TICK, 2 * TICK])
def test_one_by_one_or_as_a_range_counters_are_the_same(url: str, step: int) -> None:
    settings = PrometheusSettings(url=url, dialect="inspector")
    with InspectorSource(settings) as one, InspectorSource(settings) as other:
        single = [one.snapshot(float(at)) for at in range(START, START + 20 * step, step)]
        ranged = list(other.snapshots(float(START), float(START + 19 * step), float(step)))
    assert [counters(each) for each in single] == [counters(each) for each in ranged]
    assert max(map(len, map(counters, single))) == 8 * 3  # the world's three collectives


def counters(snapshot: Snapshot) -> dict[tuple[str, ...], tuple[float, ...]]:
    cells, text_of = snapshot.cells, snapshot.vocabulary.text
    labels = zip(*(map(text_of, getattr(cells, name)) for name in ("comm", "op", "size", "algo", "proto")), strict=True)
    values = zip(cells.operations, cells.seconds, cells.log_microseconds, strict=True)
    rows = zip(labels, cells.rank, values, strict=True)
    return {(*names, str(rank)): tuple(round(float(x), 9) for x in numbers) for names, rank, numbers in rows}


def test_no_setting_switches_on_what_the_metrics_cannot_bear() -> None:
    tables = {
        "prometheus": {"dialect": "inspector"},
        "detection": {
            "stalled": {"enabled": True},
            "jobs": [{"job_id": "a", "stalled": {"enabled": True}, "late_rank": {"enabled": False}}],
        },
    }
    detection = Settings.model_validate(tables).detection
    for settings in (detection, detection.settings_for("a"), Settings(prometheus={"dialect": "inspector"}).detection):
        assert not any(getattr(settings, name).enabled for name in REFUSED)
    assert detection.settings_for("a").late_rank.enabled is False
    assert detection.late_rank.enabled is True
    assert Settings().detection.stalled.enabled is True
