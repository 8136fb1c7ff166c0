"""Curves, from a real Prometheus."""

from collections.abc import Iterator

import numpy as np
import pytest
from page.scenes import COMM
from servers.prometheus import fill, prometheus

from sentinel.config.prometheus import PrometheusSettings
from sentinel.page.panels import PANELS
from sentinel.page.store import Store

END = 1_795_980_600.0
STEP = 15.0
COUNT = 241  # an hour
RANKS = (0, 1)
BUCKETS = {
    "0.001": 50,
    "0.002": 90,
    "0.004": 100,
    "+Inf": 100,
}  # operations a step, of which half take up to a millisecond


def history() -> str:
    """Two ranks that do the same for an hour; rank 1's channels are busy for twice as long."""
    lines: dict[str, list[str]] = {}

    def add(family: str, name: str, labels: str, per_step: float) -> None:
        for number in range(COUNT):
            at = END - STEP * (COUNT - 1 - number)
            lines.setdefault(family, []).append(f'{name}{{comm="{COMM}",{labels}}} {per_step * number} {at:.3f}')

    for rank in RANKS:
        for edge, count in BUCKETS.items():
            add("nccl_collective_duration_seconds", "nccl_collective_duration_seconds_bucket",
                f'rank="{rank}",op="AllReduce",le="{edge}"', count)  # fmt: skip
        for what, value in (("started", 400), ("operations", 100), ("bytes", 100 << 20)):
            more = ',size="1048576",algo="RING",proto="LL"' if what == "operations" else ""
            name = f"nccl_collective_{what}"
            add(name, f"{name}_total", f'rank="{rank}",op="AllReduce"{more}', value)
        for channel in range(2):
            add("nccl_channel_seconds", "nccl_channel_seconds_total",
                f'rank="{rank}",channel="{channel}",transport="net"', 0.05 * (1 + rank))  # fmt: skip
        for state, seconds in (("wire", 3.0), ("cpu", 1.0)):
            labels = f'rank="{rank}",peer="{1 - rank}",direction="send",state="{state}"'
            add("nccl_network_step_seconds", "nccl_network_step_seconds_total", labels, seconds)
            add("nccl_network_steps", "nccl_network_steps_total", labels, 1000)
        add("nccl_network_bytes", "nccl_network_bytes_total", f'rank="{rank}",peer="{1 - rank}",direction="send"', 15e6)
    text = ""
    for family, own in lines.items():
        kind = "histogram" if "duration" in family else "counter"
        text += f"# TYPE {family} {kind}\n" + "\n".join(own) + "\n"
    return text + "# EOF\n"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    directory = tmp_path_factory.mktemp("prometheus")
    fill(directory, history())
    with prometheus(directory) as address:
        yield address


def newest(document: dict, part: str) -> dict[tuple[str, ...], float]:
    labels = {name: tuple(curves.labels) for panel in PANELS.values() for name, curves in panel.items()}
    assert labels
    return {
        tuple(curve["labels"].values()): next(value for value in reversed(curve["values"]) if value == value)
        for curve in document["parts"][part]["curves"]
    }


@pytest.mark.parametrize("selector", ["", 'op=~"All.*"'])
def test_quantiles_by_operation(url: str, selector: str) -> None:
    store = Store(PrometheusSettings(url=url, selector=selector))
    document = store.read("operations", COMM, 3600.0, END)
    assert newest(document, "duration") == {
        ("AllReduce", "0.5"): pytest.approx(0.001),
        ("AllReduce", "0.95"): pytest.approx(0.003),
        ("AllReduce", "0.99"): pytest.approx(0.0038),
    }
    assert len(document["times"]) == len(document["parts"]["duration"]["curves"][0]["values"])
    assert document["times"][-1] == pytest.approx(END, abs=40.0)


def test_network_states_and_bandwidth(url: str) -> None:
    document = Store(PrometheusSettings(url=url)).read("network", COMM, 3600.0, END)
    assert newest(document, "step") == {
        ("send", "cpu"): pytest.approx(0.001, rel=0.01),
        ("send", "wire"): pytest.approx(0.003, rel=0.01),
    }
    # 15 MB in 15 s of the measured operations, of which there are four times as many; two ranks.
    assert newest(document, "bandwidth") == {("send",): pytest.approx(8e6, rel=0.01)}


def test_bandwidth_of_channels(url: str) -> None:
    document = Store(PrometheusSettings(url=url)).read("channels", COMM, 3600.0, END)
    slow, fast = (100 << 20) / 0.2, (100 << 20) / 0.1
    assert newest(document, "bandwidth") == {
        ("slowest rank",): pytest.approx(slow, rel=0.01),
        ("median rank",): pytest.approx((slow + fast) / 2, rel=0.01),
        ("fastest rank",): pytest.approx(fast, rel=0.01),
    }


def test_of_another_communicator_there_is_nothing(url: str) -> None:
    store = Store(PrometheusSettings(url=url))
    for panel in PANELS:
        assert all(not part["curves"] for part in store.read(panel, "ff", 3600.0, END)["parts"].values())


def test_an_answer_is_kept_for_some_seconds(url: str) -> None:
    now = [0.0]
    store = Store(PrometheusSettings(url=url), lambda: now[0])
    first = store.read("channels", COMM, 3600.0, END)
    now[0] = 10.0
    assert store.read("channels", COMM, 3600.0, END) is first
    assert store.read("network", COMM, 3600.0, END) is not first
    now[0] = 20.0
    assert store.read("channels", COMM, 3600.0, END) is not first


def test_before_anything_was_scraped_nothing_is_known(url: str) -> None:
    document = Store(PrometheusSettings(url=url)).read("operations", COMM, 86_400.0, END)
    values = np.array(document["parts"]["duration"]["curves"][0]["values"], dtype=float)
    assert np.isnan(values[:50]).all()
    assert np.isfinite(values[-2:]).all()
