# SPDX-License-Identifier: Apache-2.0
"""The real Prometheus, with the certificate and the password that the exporter asks for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bcrypt
import httpx
import pytest
from nccl_endpoint.server import Server
from servers.prometheus import prometheus

PASSWORD = "of prometheus"


@pytest.mark.parametrize(("password", "health"), [(PASSWORD, "up"), ("wrong", "down")])
def test_scrape(
    serve: Callable[..., Server],
    directory: Path,
    tls_with: Callable[..., str],
    password: str,
    health: str,
    poll: Callable[..., Any],
) -> None:
    hashed = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()
    mutual = (
        "client_auth_type: RequireAndVerifyClientCert\nclient_ca_file: authority.pem\n"
        "client_allowed_sans: [prometheus.example]"
    )
    server = serve(tls_with(mutual) + f'basic_auth_users: {{prometheus: "{hashed}"}}\n')
    (directory / "password").write_text(password)
    options = (
        f"scheme: https, basic_auth: {{username: prometheus, password_file: {directory}/password}}, "
        f"tls_config: {{ca_file: {directory}/authority.pem, cert_file: {directory}/client.pem, "
        f"key_file: {directory}/client.key}}"
    )
    with prometheus(directory / "prometheus", [str(server.address)], options=options) as url:

        def target() -> dict[str, Any] | None:
            targets = httpx.get(f"{url}/api/v1/targets", trust_env=False).json()["data"]["activeTargets"]
            return targets[0] if targets and targets[0]["health"] != "unknown" else None

        found = poll(target)
    assert (found["health"], "401" in found["lastError"]) == (health, health == "down")
