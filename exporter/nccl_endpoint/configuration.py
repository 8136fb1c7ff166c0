# SPDX-License-Identifier: Apache-2.0
"""A web configuration that has been read and checked as a whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nccl_endpoint import headers, rate_limit, tls, users
from nccl_endpoint.document import Section, Watch
from nccl_endpoint.rate_limit import RateLimit
from nccl_endpoint.tls import Tls
from nccl_endpoint.users import Users

KEYS: Final = ("tls_server_config", "http_server_config", "basic_auth_users", "rate_limit")


@dataclass(frozen=True, slots=True)
class WebConfig:
    """Without a file: plain HTTP for everybody."""

    tls: Tls | None = None
    users: Users | None = None
    rate_limit: RateLimit | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def load(file: Path, watch: Watch) -> WebConfig:
    """Raises WebConfigError; `watch` then knows the files that were looked at until there."""
    document = Section.read(file, watch, KEYS)
    tls.refuse_inline(document.section("tls_server_config"))
    return WebConfig(
        tls=tls.read(document.section("tls_server_config", tls.KEYS), watch),
        users=users.read(document.section("basic_auth_users")),
        rate_limit=rate_limit.read(document.section("rate_limit", rate_limit.KEYS)),
        headers=headers.read(document.section("http_server_config", headers.KEYS)),
    )
