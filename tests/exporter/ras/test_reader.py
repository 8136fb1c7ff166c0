# SPDX-License-Identifier: Apache-2.0
"""The reader with a real TCP service, from the first scrape on."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from nccl_exporter.model import Communicator, Process
from nccl_exporter.ras.client import Limits
from nccl_exporter.ras.reader import IDLE_SECONDS, OLDEST_SECONDS, RasReader
from nccl_exporter.ras.status import STATUSES, RasStatus
from servers.ras_service import RECORDED, RasService

Pair = tuple[Process, Communicator]
Poll = Callable[..., Any]
QUICK = Limits(greeting_seconds=0.2, answer_seconds=0.2, answer_bytes=100_000)


class Seconds:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def read(service: RasService, seconds: Seconds) -> Iterator[Callable[..., RasReader]]:
    """Starts a reader that asks once, or every `interval_seconds`."""
    with ExitStack() as stack:

        def start(interval_seconds: float = 3600.0) -> RasReader:
            reader = RasReader(service.address, QUICK, interval_seconds, seconds)
            stack.callback(service.gate.set)
            return stack.enter_context(reader)

        yield start


def true(statuses: list[RasStatus]) -> set[tuple[int, int, str]]:
    return {(status.comm_id, status.rank, status.status) for status in statuses if status.value}


def test_recorded_stall(read: Callable[..., RasReader], recorded_job: list[Pair], poll: Poll) -> None:
    reader = read(interval_seconds=0.01)
    assert reader(recorded_job) == []
    poll(lambda: true(reader(recorded_job)))
    statuses = reader(recorded_job)
    assert true(statuses) == {(0xA, 2, "behind"), (0xB, 2, "behind")}
    assert len(statuses) == 16 * len(STATUSES)
    assert (reader.failures, reader.left_out) == (Counter(), Counter(not_found=0, ambiguous=0))


def test_one_answer_does_not_tell_who_is_behind(
    read: Callable[..., RasReader], recorded_job: list[Pair], poll: Poll
) -> None:
    reader = read()
    reader(recorded_job)
    assert not true(poll(lambda: reader(recorded_job)))
    assert reader.queries == 1


def test_other_nodes_ranks_only_where_something_is_wrong(
    read: Callable[..., RasReader], recorded_job: list[Pair], poll: Poll
) -> None:
    reader = read(interval_seconds=0.01)
    first = recorded_job[:2]
    poll(lambda: true(reader(first)))
    statuses = reader(first)
    assert true(statuses) == {(0xA, 2, "behind"), (0xB, 2, "behind")}
    assert len(statuses) == 2 * len(STATUSES) + 2


def test_scrape_does_not_wait(
    read: Callable[..., RasReader], recorded_job: list[Pair], service: RasService, poll: Poll
) -> None:
    service.gate.clear()
    reader = read()
    reader(recorded_job)
    poll(lambda: service.asked)
    assert reader(recorded_job) == []  # while the service is thinking
    service.gate.set()
    assert poll(lambda: reader(recorded_job))


def test_nobody_asks_before_there_is_a_job(read: Callable[..., RasReader], service: RasService) -> None:
    reader = read(interval_seconds=0.0)
    assert reader([]) == []
    reader.__exit__()
    assert (reader.queries, service.asked) == (0, 0)


def test_nobody_asks_when_nobody_scrapes(
    read: Callable[..., RasReader], recorded_job: list[Pair], seconds: Seconds, poll: Poll
) -> None:
    reader = read(interval_seconds=0.01)
    reader(recorded_job)
    poll(lambda: reader.queries > 1)
    seconds.now += IDLE_SECONDS + 1
    poll(lambda: not reader._wanted.is_set())
    reader(recorded_job)
    poll(lambda queries=reader.queries: reader.queries > queries)


def test_old_answers_are_not_published(
    read: Callable[..., RasReader], recorded_job: list[Pair], seconds: Seconds, poll: Poll
) -> None:
    reader = read()
    reader(recorded_job)
    assert poll(lambda: reader(recorded_job))
    seconds.now += OLDEST_SECONDS
    assert reader(recorded_job)
    seconds.now += 0.1
    assert reader(recorded_job) == []


def test_answer_that_is_old_when_the_scrape_comes(
    read: Callable[..., RasReader], recorded_job: list[Pair], seconds: Seconds, poll: Poll
) -> None:
    reader = read()
    reader(recorded_job)
    poll(lambda: reader.queries)
    seconds.now += OLDEST_SECONDS + 0.1
    assert reader(recorded_job) == []


def test_communicator_that_is_gone_is_not_published(
    read: Callable[..., RasReader], recorded_job: list[Pair], poll: Poll
) -> None:
    reader = read()
    reader(recorded_job)
    poll(lambda: reader(recorded_job))
    assert {status.comm_id for status in reader(recorded_job[:1])} == {0xA}
    assert reader([]) == []


def test_jobs_that_answer_in_turn_are_both_published(
    read: Callable[..., RasReader], pair: Callable[..., Pair], recorded_job: list[Pair], service: RasService, poll: Poll
) -> None:
    other = RECORDED.replace(b'"pid": 99', b'"pid": 79').replace(b'"hash": "0x', b'"hash": "0x1')
    ours = [*recorded_job, pair(0xD, 0, 8, 793, dict.fromkeys(("AllGather", "ReduceScatter", "AllReduce"), 31))]
    reader = read(interval_seconds=0.01)
    reader(ours)
    poll(lambda: any(status.comm_id == 0xA for status in reader(ours)))
    service.text = other
    poll(lambda: {0xA, 0xD} <= {status.comm_id for status in reader(ours)})


def test_moving_job_is_not_behind(
    read: Callable[..., RasReader], recorded_job: list[Pair], service: RasService, poll: Poll
) -> None:
    reader = read(interval_seconds=0.01)
    reader(recorded_job)
    poll(lambda: true(reader(recorded_job)))
    document = json.loads(RECORDED)
    for communicator in document["communicators"]:
        for rank in communicator["ranks"]:
            rank["collective_counts"] = {name: count + 9 for name, count in rank["collective_counts"].items()}
    service.text = json.dumps(document).encode()
    poll(lambda: not true(reader(recorded_job)))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"lines": [b"HTTP/1.1 400\n"]}, "protocol"),
        ({"lines": [b"SERVER PROTOCOL 1\n", b"ERROR: Unknown command\n"]}, "unsupported"),
        ({"text": RECORDED[:5000]}, "closed"),
        ({"text": b"x" * 200_000}, "size"),
        ({"text": b"{}"}, "malformed"),
        ({"hangs": True}, "timeout"),
    ],
)
def test_failure_is_counted_and_said_once(
    read: Callable[..., RasReader],
    recorded_job: list[Pair],
    service: RasService,
    poll: Poll,
    caplog: pytest.LogCaptureFixture,
    changes: dict[str, Any],
    reason: str,
) -> None:
    caplog.set_level("INFO", logger="nccl_exporter")
    good = {name: getattr(service, name) for name in changes}
    for name, value in changes.items():
        setattr(service, name, value)
    reader = read(interval_seconds=0.01)
    reader(recorded_job)
    poll(lambda: reader.failures[reason] >= 2)
    assert reader(recorded_job) == []
    assert set(reader.failures) == {reason}
    assert [f"gives no answer: {reason}" in message for message in caplog.messages] == [True]
    service.ended.set()
    for name, value in good.items():
        setattr(service, name, value)
    poll(lambda: reader(recorded_job))
    poll(lambda: caplog.messages[-1] == f"RAS at {service.address} answers")


def test_error_of_ours_does_not_end_it(
    read: Callable[..., RasReader],
    recorded_job: list[Pair],
    poll: Poll,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("nccl_exporter.ras.answer.parse", lambda _: 1 / 0)
    reader = read(interval_seconds=0.01)
    reader(recorded_job)
    poll(lambda: reader.failures["malformed"] >= 2)
    assert "ZeroDivisionError" in caplog.text


def test_what_cannot_be_told_apart_is_counted(
    read: Callable[..., RasReader], pair: Callable[..., Pair], recorded_job: list[Pair], poll: Poll
) -> None:
    half = {"AllReduce": 31}
    ours = [*recorded_job, *(pair(0xCC, rank, 4, pid, half) for rank, pid in enumerate((990, 996, 994, 995)))]
    ours.append(pair(0xE, 0, 8, 12345, half))
    reader = read()
    reader(ours)
    assert {status.comm_id for status in poll(lambda: reader(ours))} == {0xA, 0xB}
    assert reader.left_out == {"ambiguous": 2, "not_found": 1}
