"""The `[web]` section."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from nccl_endpoint.address import Address
from pydantic import AfterValidator, BaseModel, ByteSize, ConfigDict, Field

from sentinel.model.duration import Duration

__all__ = ["WebSettings"]


def _address(text: str) -> str:
    try:
        Address.parse(text)
    except ValueError as error:
        raise ValueError(f"{error}, as in 127.0.0.1:9848") from None
    return text


class WebSettings(BaseModel):
    """What the daemon serves: metrics of its own, its health, and a webhook for Alertmanager."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # The neighbour of nccl-exporter's 9847: both may run on one machine.
    listen_address: Annotated[str, AfterValidator(_address)] = Field(
        default="127.0.0.1:9848",
        description="Where to serve. Without a host: every address; port 0: one that is free, which the log tells.",
    )
    config_file: Path | None = Field(
        default=None,
        description="TLS, users and headers, in the format of Prometheus' exporters; read again when it changes.",
    )
    max_requests_per_second: float = Field(
        default=100.0, gt=0.0, le=10_000.0, description="Requests that are answered, of all clients together."
    )
    max_webhook_body: ByteSize = Field(
        default=ByteSize(1 << 20), gt=0, description="Largest notification that is read; a longer one is refused."
    )
    max_context_alerts: int = Field(
        default=1000, ge=0, le=100_000, description="Firing alerts of others that are kept as context; 0: none."
    )
    max_context_labels: ByteSize = Field(
        default=ByteSize(4 << 10), gt=0, description="Largest set of labels of such an alert; a larger one is left out."
    )
    max_context_age: Duration = Field(
        default=timedelta(hours=12),
        gt=timedelta(0),
        description="Such an alert is forgotten when Alertmanager has not repeated it for so long. More than its "
        "repeat_interval.",
    )
