"""Where the daemon is, and how it is asked."""

from typing import Any, Final

from nccl_endpoint.address import Address
from nccl_endpoint.document import Section, Watch
from nccl_endpoint.errors import EndpointError
from pydantic import ValidationError

from sentinel.config.access import AccessSettings, ServerUrl
from sentinel.config.web import WebSettings
from sentinel.errors import ConfigError

__all__ = ["DaemonAccess", "daemon_access", "daemon_url"]

_HINT: Final = "Say where it serves, as in --url https://sentinel.example:9848"
_EVERYWHERE: Final = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (not bound to, but asked)


class DaemonAccess(AccessSettings):
    """The address with what it takes to be let in."""

    url: ServerUrl


def daemon_access(**options: Any) -> DaemonAccess:
    """From options of the command line. ConfigError, which does not repeat what may be a password."""
    try:
        return DaemonAccess.model_validate(options)
    except ValidationError as error:
        fault = error.errors(include_input=False)[0]
        option = "".join(f"--{part}" for part in fault["loc"]).replace("_", "-")
        why = fault["msg"].removeprefix("Value error, ")
        raise ConfigError("cannot ask the daemon", where=option, why=why) from None


def daemon_url(web: WebSettings) -> str:
    """Where a daemon with these settings serves, seen from its own machine. ConfigError where they do not tell."""
    address = Address.parse(web.listen_address)
    if address.port == 0:
        why = "its port is chosen when the daemon starts, and its log tells it"
        raise ConfigError("cannot tell where the daemon serves", where="web.listen_address", why=why, hint=_HINT)
    reached = Address(_EVERYWHERE.get(address.host, address.host), address.port)
    return f"{'https' if _has_tls(web) else 'http'}://{reached}"


def _has_tls(web: WebSettings) -> bool:
    """Only that: keys and certificates are the daemon's to read."""
    if web.config_file is None:
        return False
    try:
        return bool(Section.read(web.config_file, Watch(), ()).section("tls_server_config"))
    except EndpointError as error:
        what = "cannot tell whether the daemon serves with TLS"
        raise ConfigError(what, where=error.where, why=error.why, hint=_HINT) from None
