"""The `[prometheus]` section."""

import re
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, ByteSize, Field

from sentinel.config.access import AccessSettings, ServerUrl
from sentinel.config.metrics_dialect import Dialect
from sentinel.model.duration import Duration

__all__ = ["PrometheusSettings"]

_MATCHER = r'[a-zA-Z_][a-zA-Z0-9_]*\s*(?:=~|!~|!=|=)\s*"(?:[^"\\\n]|\\.)*"'
_SELECTOR = re.compile(rf"\s*{_MATCHER}\s*(?:,\s*{_MATCHER}\s*)*")


def _selector(text: str) -> str:
    if text and not _SELECTOR.fullmatch(text):
        raise ValueError('write label matchers without braces, as in cluster="a",env=~"prod|test"')
    return text.strip()


class PrometheusSettings(AccessSettings):
    """Where the series come from: Prometheus, or whatever speaks its query API."""

    url: ServerUrl = Field(default="http://127.0.0.1:9090", description="Address, with its path prefix if it has one.")
    external_url: ServerUrl | None = Field(
        default=None, description="Address that people's browsers reach it by, for links in alerts. Unset: url."
    )
    dialect: Dialect = Field(
        default=Dialect.SENTINEL,
        description="Whose metrics are read: nccl-exporter's, or those of NVIDIA Inspector, which cannot bear every "
        "verdict (docs/inspector.md).",
    )
    selector: Annotated[str, AfterValidator(_selector)] = Field(
        default="", description='Label matchers added to every query, as in cluster="a".'
    )
    recording_rules: bool = Field(
        default=False,
        description="Read collectives, Sends and Recvs as the recording rules add them up (group nccl_counters of "
        "config/prometheus): fewer series where operations have many sizes, which are then judged together. The "
        "rules have to be evaluated once a tick, or a whole number of times.",
    )
    timeout: Duration = Field(
        default=timedelta(seconds=30), gt=timedelta(0), description="How long one query may take, answer included."
    )
    retries: int = Field(
        default=2,
        ge=0,
        le=10,
        description="Further attempts when the server cannot be reached or fails itself (429, 5xx).",
    )
    scrape_interval: Duration | None = Field(
        default=None,
        gt=timedelta(0),
        description="How often exporters are scraped. A rank without a sample for 2.5 of these is gone, also where the "
        "server keeps no staleness markers, as for backfilled history. Unset: measured.",
    )
    max_answer: ByteSize = Field(
        default=ByteSize(1 << 30), gt=0, description="Largest answer that is read; a longer one is an error."
    )
