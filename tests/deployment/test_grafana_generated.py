"""The dashboards are what the generator makes of the catalogues, and nothing that does not exist gets into one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from deployment.dashboards import FILES, GRAFANA
from nccl_dashboards.about import About
from nccl_dashboards.panel import Query, timeseries
from nccl_dashboards.promql import all_rates, ranks, rates
from nccl_dashboards.recorded import recorded
from nccl_dashboards.unshown import unshown
from nccl_endpoint.family import MetricFamily
from nccl_exporter.catalogue import BYTES


def test_the_committed_ones_are_those_that_are_generated(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(GRAFANA), "PYTHONHASHSEED": "1"}
    subprocess.run([sys.executable, "-m", "nccl_dashboards", tmp_path], env=environment, check=True)
    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in FILES}
    for file in FILES:
        assert file.read_text(encoding="utf-8") == (tmp_path / file.name).read_text(encoding="utf-8"), (
            "the dashboards are behind the catalogues: run `make dashboards`"
        )


def test_a_series_that_no_rule_records_is_refused() -> None:
    assert recorded("comm_rank:nccl_started:rate5m") == "comm_rank:nccl_started:rate5m"
    with pytest.raises(KeyError, match="comm_rank:nccl_strated:rate5m is not recorded"):
        recorded("comm_rank:nccl_strated:rate5m")


def test_a_label_that_a_metric_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="nccl_communicator_info has no label instance"):
        ranks("node", "instance")
    with pytest.raises(ValueError, match="nccl_collective_bytes_total has no label size"):
        rates(BYTES, ("comm", "size"))
    with pytest.raises(ValueError, match="nccl_collective_bytes_total has no label node"):
        all_rates(BYTES, ("instance", "node"))


def test_a_new_metric_gets_a_panel() -> None:
    new = MetricFamily("nccl_sentinel_new_things_total", "counter", "requests", ("comm", "kind"), "New.")
    known = MetricFamily("nccl_sentinel_known", "gauge", "", (), "Known.")
    shown = timeseries("Known", About("short", "Known."), Query("max(nccl_sentinel_known)", "known"))
    (panel,) = unshown(
        [new, known, BYTES], [shown, timeseries("", About("", ""), Query(BYTES.name, ""))], ("instance",)
    )
    assert (panel.title, panel.about) == ("New things", About("reqps", "New."))
    (target,) = panel.targets
    assert target["legendFormat"] == "{{kind}} {{instance}}"
    assert target["expr"] == (
        "sum by (kind, instance) "
        '(rate(nccl_sentinel_new_things_total{job=~"$job", instance=~"$instance"}[$__rate_interval]))'
    )
