"""Secrets, from the files that hold them."""

import base64
import ssl
from pathlib import Path

from sentinel.config.access import AccessSettings
from sentinel.errors import ConfigError

__all__ = ["authorization", "tls_context"]

_MAX_SECRET_BYTES = 64 * 1024


def authorization(access: AccessSettings) -> str | None:
    """The value of the Authorization header, or None when no credentials are configured.

    Reads the file anew: tokens are rotated under a running daemon. ConfigError when it cannot be read or is empty.
    """
    if access.bearer_token_file is not None:
        return f"Bearer {_secret(access.bearer_token_file)}"
    if access.username is not None and access.password_file is not None:
        pair = f"{access.username}:{_secret(access.password_file)}"
        return f"Basic {base64.b64encode(pair.encode()).decode()}"
    return None


def tls_context(access: AccessSettings) -> ssl.SSLContext:
    """Verification by `ca_file` or the system's authorities, and the client certificate when there is one.

    ConfigError when a file cannot be read or is not PEM.
    """
    try:
        context = ssl.create_default_context(cafile=access.ca_file)
    except OSError as error:
        raise ConfigError("cannot use ca_file", where=str(access.ca_file), why=_reason(error)) from error
    if access.cert_file is not None:
        try:
            # Without a password OpenSSL would ask for one on the terminal, and wait.
            context.load_cert_chain(access.cert_file, access.key_file, password="")
        except OSError as error:
            where = f"{access.cert_file}, {access.key_file}"
            raise ConfigError("cannot use cert_file with key_file", where=where, why=_reason(error)) from error
    return context


def _secret(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_SECRET_BYTES + 1)
    except OSError as error:
        raise ConfigError("cannot read a secret", where=str(path), why=_reason(error)) from error
    try:
        text = data.decode("ascii").strip()
    except UnicodeDecodeError:
        raise ConfigError("cannot use a secret", where=str(path), why="it is not ASCII text") from None
    if not text or len(data) > _MAX_SECRET_BYTES or not text.isprintable():
        why = "it is empty" if not text else "a secret is one line of text"
        raise ConfigError("cannot use a secret", where=str(path), why=why)
    return text


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
