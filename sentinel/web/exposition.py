"""Samples as Prometheus reads them."""

from collections.abc import Iterable, Iterator
from typing import Final

from nccl_endpoint.family import MetricFamily
from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from sentinel.web.catalogue import CATALOGUE
from sentinel.web.histogram import Histogram
from sentinel.web.sample import Sample

__all__ = ["TEXT_FORMAT", "exposition"]

TEXT_FORMAT: Final = "text/plain; version=0.0.4; charset=utf-8"

_PROCESS: Final = ProcessCollector(registry=None)  # CPU, memory and open files of this process


def exposition(samples: Iterable[Sample]) -> str:
    """The text format, in the catalogue's order; a family without samples is there by its HELP."""
    return generate_latest(_Page(samples)).decode()


class _Page(Collector):
    def __init__(self, samples: Iterable[Sample]) -> None:
        self._samples: dict[MetricFamily, list[tuple[tuple[str, ...], float | Histogram]]] = {
            each: [] for each in CATALOGUE
        }
        for family, labels, value in samples:
            self._samples[family].append((labels, value))

    def collect(self) -> Iterator[Metric]:
        for family, found in self._samples.items():
            yield _metric(family, found)
        yield from _PROCESS.collect()


def _metric(family: MetricFamily, found: Iterable[tuple[tuple[str, ...], float | Histogram]]) -> Metric:
    if family.kind == "histogram":
        histogram = HistogramMetricFamily(family.name, family.help, labels=family.labels)
        for labels, value in found:
            assert isinstance(value, Histogram)  # noqa: S101
            buckets, total = value.read()
            histogram.add_metric(labels, buckets, total)
        return histogram
    kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    metric = kind(family.name, family.help, labels=family.labels)
    for labels, value in found:
        assert not isinstance(value, Histogram)  # noqa: S101
        metric.add_metric(labels, value)
    return metric
