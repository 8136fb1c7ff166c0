"""What ticks saw, over reloads and restarts."""

from pathlib import Path

import pytest
from history.looks import START, TICK, Watcher, job
from nccl_endpoint.page import Request

from sentinel.config.settings import Settings
from sentinel.daemon.display import Display
from sentinel.daemon.tally import Tally


def settings(directory: Path, **page: str) -> Settings:
    return Settings.model_validate({"state": {"directory": directory}, "page": page})


@pytest.fixture
def directories(tmp_path: Path) -> list[Path]:
    found = [tmp_path / "one", tmp_path / "two"]
    for each in found:
        each.mkdir()
    return found


def display(directory: Path, tally: Tally | None = None) -> Display:
    return Display(settings(directory), tally or Tally(), "here-1", lambda: "", lambda: START)


def watch(shown: Display, watcher: Watcher, watched: object, count: int) -> None:
    for look in watcher.looks(watched, count):
        shown.take(look)
        shown.settle(10.0)
        assert shown.record.moment.time == look.snapshot.time


def ticks(shown: Display, comm: str) -> list[float]:
    found = shown.record.columns(comm, ticks=True)
    return [each.time for each in found[1]] if found else []


def test_a_restart_and_a_reload_go_on(directories: list[Path]) -> None:
    watcher, watched = Watcher(), job()
    before = display(directories[0])
    watch(before, watcher, watched, 4)
    before.follow(settings(directories[0], keep="2h"))
    watch(before, watcher, watched, 1)
    before.stop()
    after = display(directories[0])
    watch(after, watcher, watched, 1)
    after.stop()
    assert ticks(after, watched.comm) == [START + TICK * at for at in range(1, 7)]
    assert before.record.span.bins_seconds == 7200.0


def test_another_directory_is_another_history(directories: list[Path]) -> None:
    watcher, watched = Watcher(), job()
    shown = display(directories[0])
    watch(shown, watcher, watched, 2)
    shown.follow(settings(directories[1]))
    watch(shown, watcher, watched, 1)
    shown.stop()
    assert ticks(shown, watched.comm) == [START + 3 * TICK]
    assert (directories[1] / "history.db").exists()


def test_without_a_tick_the_directory_is_not_touched(directories: list[Path]) -> None:
    shown = display(directories[0])
    assert shown.facts().last_tick is None
    shown.stop()
    assert list(directories[0].iterdir()) == []


def test_answers_are_kept_until_the_next_tick(directories: list[Path]) -> None:
    watcher, watched = Watcher(), job()
    shown = display(directories[0])
    heatmap, request = shown.pages()["/api/v1/heatmap"], Request("", b"", f"comm={watched.comm}")
    watch(shown, watcher, watched, 2)
    first = heatmap(request)
    assert first.status == 200
    assert heatmap(request) is first
    watch(shown, watcher, watched, 1)
    assert not shown._page._heatmaps._held
    shown.stop()


def test_what_is_left_out_is_counted(directories: list[Path]) -> None:
    (directories[0] / "history.db").mkdir()
    tally = Tally()
    shown = display(directories[0], tally)
    watch(shown, Watcher(), job(), 3)
    shown.stop()
    assert tally.history_dropped == {"error": 3}
    assert shown.facts().history_dropped == 3
