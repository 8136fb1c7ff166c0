"""The pair of processes: what they are given, and that none is waited for in vain or left behind."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from gpu.pair.processes import Pair, PairError

SECONDS = 60.0


@pytest.fixture
def open_pair(tmp_path: Path) -> Callable[..., Pair]:
    return lambda **environment: Pair("gpu.echo_job", environment, tmp_path)


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_answers_come_by_rank_and_the_end_is_in_order(open_pair: Callable[..., Pair], tmp_path: Path) -> None:
    with open_pair() as pair:
        assert [facts["rank"] for facts in pair.facts] == [0, 1]
        assert pair.ask("RANK", SECONDS) == ["0", "1"]
        assert pair.ask("LOCAL_RANK", SECONDS) == ["0", "1"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["closed-0", "closed-1"]
    assert not any(is_running(facts["pid"]) for facts in pair.facts)


def test_the_environment_is_the_variants_alone(open_pair: Callable[..., Pair], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCCL_PROFILER_PLUGIN", "/left/over.so")
    monkeypatch.setenv("NCCL_SENTINEL_SAMPLE", "all")
    with open_pair(NCCL_SENTINEL_DIR="/here") as pair:
        assert pair.ask("NCCL_SENTINEL_DIR", SECONDS) == ["/here"] * 2
        assert pair.ask("NCCL_PROFILER_PLUGIN", SECONDS) == [None] * 2
        assert pair.ask("NCCL_SENTINEL_SAMPLE", SECONDS) == [None] * 2
    with open_pair(NCCL_PROFILER_PLUGIN="/a.so") as pair:
        assert pair.ask("NCCL_PROFILER_PLUGIN", SECONDS) == ["/a.so"] * 2
        assert pair.ask("NCCL_SENTINEL_DIR", SECONDS) == [None] * 2
    assert os.environ["NCCL_SENTINEL_SAMPLE"] == "all"


@pytest.mark.parametrize(
    ("request_", "seconds", "said"),
    [("fail", SECONDS, "rank 1 failed\n.*as it was told"), ("die", SECONDS, "rank 1 died"), ("hang", 0.5, "no answer")],
)
def test_a_rank_that_gives_no_answer_ends_both(
    open_pair: Callable[..., Pair], request_: str, seconds: float, said: str
) -> None:
    with pytest.raises(PairError, match=f"(?s){said}"), open_pair() as pair:
        pair.ask(request_, seconds)
    assert not any(is_running(facts["pid"]) for facts in pair.facts)


def test_a_job_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(PairError, match=r"(?s)start: rank . failed.*no_such_job"):
        Pair("gpu.no_such_job", {}, tmp_path).ready()


def test_the_plugin_is_what_nccl_says_it_loaded(open_pair: Callable[..., Pair]) -> None:
    with open_pair() as pair:
        with pytest.raises(PairError, match="does not say"):
            pair.plugins()
        pair.ask("log", SECONDS)
        assert pair.plugins() == ["", "Sentinel (v5)"]
