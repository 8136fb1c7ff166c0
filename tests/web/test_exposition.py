from prometheus_client.parser import text_string_to_metric_families

from sentinel.web import catalogue
from sentinel.web.catalogue import CATALOGUE
from sentinel.web.exposition import exposition
from sentinel.web.histogram import Histogram


def test_every_family_has_its_help_in_the_order_of_the_catalogue() -> None:
    heads = [line.split(maxsplit=3) for line in exposition([]).splitlines() if line.startswith("# HELP nccl_")]
    assert [(name, text) for _, _, name, text in heads] == [(family.name, family.help) for family in CATALOGUE]


def test_samples_of_every_kind() -> None:
    histogram = Histogram((0.1,))
    histogram.observe(0.25)
    text = exposition(
        [
            (catalogue.TICKS, ("ok",), 3),
            (catalogue.TICK_DURATION, (), histogram),
            (catalogue.DELIVERED, ('http://a/"\\\n',), 1_795_980_960.5),
        ]
    )
    lines = text.splitlines()
    assert 'nccl_sentinel_ticks_total{outcome="ok"} 3.0' in lines
    assert 'nccl_sentinel_tick_duration_seconds_bucket{le="0.1"} 0.0' in lines
    assert 'nccl_sentinel_tick_duration_seconds_bucket{le="+Inf"} 1.0' in lines
    assert "nccl_sentinel_tick_duration_seconds_sum 0.25" in lines
    families = {family.name: family for family in text_string_to_metric_families(text)}
    (sample,) = families["nccl_sentinel_alertmanager_last_success_timestamp_seconds"].samples
    assert sample.labels == {"alertmanager": 'http://a/"\\\n'}
    assert sample.value == 1_795_980_960.5


def test_memory_and_cpu_of_the_process_are_there() -> None:
    assert "process_resident_memory_bytes " in exposition([])
