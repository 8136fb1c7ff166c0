# SPDX-License-Identifier: Apache-2.0
"""The limit of requests."""

from collections.abc import Callable

import httpx
import pytest
from nccl_endpoint.document import Section
from nccl_endpoint.rate_limit import RateLimit
from nccl_endpoint.server import Server


class Seconds:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_burst_then_one_every_interval() -> None:
    clock = Seconds()
    limit = RateLimit(0.5, 2, clock)
    assert [limit.allow() for _ in range(3)] == [True, True, False]
    clock.now += 0.5
    assert [limit.allow() for _ in range(2)] == [True, False]
    clock.now += 60
    assert [limit.allow() for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize(
    ("text", "seconds"), [("1s", 1.0), ("500ms", 0.5), ("1m30s", 90.0), ("1.5h", 5400.0), (0, 0.0), ("0s", 0.0)]
)
def test_durations(text: object, seconds: float, tmp_path: object) -> None:
    assert Section(tmp_path, "rate_limit", {"interval": text}).seconds("interval") == pytest.approx(seconds)


def test_one_too_many(serve: Callable[..., Server], client: Callable[..., httpx.Client]) -> None:
    server = serve("rate_limit: {interval: 1h, burst: 2}")
    assert [client(server).get("/metrics").status_code for _ in range(3)] == [200, 200, 429]
    assert server.access.refused["rate"] == 1


def test_no_interval_is_no_limit(serve: Callable[..., Server], client: Callable[..., httpx.Client]) -> None:
    server = serve("rate_limit: {burst: 1}")
    assert [client(server).get("/metrics").status_code for _ in range(3)] == [200] * 3
