"""The graph in Prometheus that shows what an alert is about."""

import json
from urllib.parse import urlencode

from sentinel.config.metrics_dialect import Dialect
from sentinel.config.prometheus import PrometheusSettings
from sentinel.model.incident import Culprit, Verdict

__all__ = ["graph_query", "graph_url"]


def graph_query(culprit: Culprit, selector: str) -> str:
    """What a person wants to see of one communicator: progress when it stalled, else each rank's mean duration."""
    matchers = f'{{comm="{culprit.comm}"{"," if selector else ""}{selector}}}'
    if culprit.verdict in (Verdict.STALLED, Verdict.RANK_MISSING):
        return f"sum by (rank) (rate(nccl_collective_started_total{matchers}[1m]))"
    seconds = f"sum by (rank) (rate(nccl_collective_seconds_total{matchers}[5m]))"
    return f"{seconds} / sum by (rank) (rate(nccl_collective_operations_total{matchers}[5m]))"


def _inspector_query(culprit: Culprit, selector: str) -> str:
    """Each GPU's window means, in seconds, of the communicators of one name in a job."""
    labels = {"slurm_job_id": culprit.job_id or "unknown", "comm_name": culprit.comm_name or "unknown"}
    matchers = ",".join(part for part in (*(f"{k}={json.dumps(v)}" for k, v in labels.items()), selector) if part)
    return f"avg by (node, gpu, collective, message_size) (nccl_collective_exec_time_microseconds{{{matchers}}}) / 1e6"


def graph_url(culprit: Culprit, prometheus: PrometheusSettings) -> str:
    """Its address, at the server's address for people."""
    base = prometheus.external_url or prometheus.url
    by_inspector = prometheus.dialect is Dialect.INSPECTOR
    query = (_inspector_query if by_inspector else graph_query)(culprit, prometheus.selector)
    return f"{base}/graph?{urlencode({'g0.expr': query, 'g0.tab': '0', 'g0.range_input': '1h'})}"
