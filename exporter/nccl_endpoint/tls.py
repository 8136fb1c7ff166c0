# SPDX-License-Identifier: Apache-2.0
"""Section `tls_server_config`."""

import ipaddress
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import Any, Final

from nccl_endpoint import cipher
from nccl_endpoint.document import Section, Watch

KEYS: Final = (
    "cert_file",
    "key_file",
    "client_auth_type",
    "client_ca_file",
    "client_allowed_sans",
    "min_version",
    "max_version",
    "cipher_suites",
    "prefer_server_cipher_suites",
    "curve_preferences",
)
_INLINE: Final = ("cert", "key", "client_ca")
_VERIFY: Final = {
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
# Certificates that are asked for and not verified: ssl has no such mode, and they would prove nothing.
_UNVERIFIED: Final = ("RequestClientCert", "RequireAnyClientCert", "RequireClientCert")


class CertificateRefusedError(ssl.SSLError):
    """The client's certificate is good and none of its names is allowed."""


@dataclass(frozen=True, slots=True)
class Tls:
    """How connections are encrypted; no `allowed_sans` means that every verified client may come in."""

    context: ssl.SSLContext
    allowed_sans: frozenset[str]

    def wrap(self, connection: socket) -> ssl.SSLSocket:
        """The connection under TLS, before its handshake; takes over the descriptor."""
        return self.context.wrap_socket(
            connection, server_side=True, do_handshake_on_connect=False, suppress_ragged_eofs=True
        )

    def handshake(self, connection: ssl.SSLSocket, seconds: float) -> None:
        """Raises OSError (ssl.SSLError is one) when there is none within that time, or the client may not come in."""
        connection.settimeout(seconds)
        connection.do_handshake()
        if self.allowed_sans and self.allowed_sans.isdisjoint(_names(connection.getpeercert() or {})):
            raise CertificateRefusedError("no name of the client's certificate is in client_allowed_sans")


def read(section: Section, watch: Watch) -> Tls | None:
    """None when the section is empty; raises WebConfigError."""
    if not section:
        return None
    certificate, key = section.path("cert_file", watch), section.path("key_file", watch)
    if certificate is None:
        raise section.refused("cert_file", "it is missing", "TLS needs cert_file and key_file")
    if key is None:
        raise section.refused("key_file", "it is missing", "TLS needs cert_file and key_file")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    _read_certificate(section, context, certificate, key)
    _read_versions(section, context)
    _read_ciphers(section, context)
    _read_curves(section, context)
    _read_clients(section, context, watch)
    sans = section.texts("client_allowed_sans")
    if sans and context.verify_mode is not ssl.CERT_REQUIRED:
        raise section.refused(
            "client_allowed_sans", "it needs a verified certificate", "Add client_auth_type: RequireAndVerifyClientCert"
        )
    return Tls(context, frozenset(sans))


def refuse_inline(section: Section) -> None:
    """Raises WebConfigError for certificates and keys that are in the file itself."""
    for key in _INLINE:
        if key in section:
            raise section.refused(
                key,
                "Python's ssl reads certificates from files only",
                f"Write it to a file and name it as {key}_file",
            )


def _read_certificate(section: Section, context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except _EncryptedError as error:
        raise section.refused("key_file", f"{key} is encrypted", "Store it without a passphrase") from error
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise section.refused("key_file", f"{key} is not the key of {certificate}") from error
        raise section.refused(
            "cert_file", f"{certificate} and {key} are no certificate and key in PEM ({error.reason or error})"
        ) from error
    except OSError as error:
        raise section.refused("cert_file", f"{certificate} and {key}: {error.strerror or error}") from error


class _EncryptedError(Exception):
    pass


def _no_password() -> str:
    # Without this OpenSSL asks on the terminal, and waits.
    raise _EncryptedError


def _read_versions(section: Section, context: ssl.SSLContext) -> None:
    for key in ("min_version", "max_version"):
        if section.text(key) in cipher.OLD_VERSIONS:
            raise section.refused(key, "OpenSSL no longer offers TLS 1.0 and 1.1", "Allowed: TLS12, TLS13")
    least = cipher.VERSIONS[section.choice("min_version", tuple(cipher.VERSIONS), "TLS12")]
    most = cipher.VERSIONS[section.choice("max_version", tuple(cipher.VERSIONS), "TLS13")]
    if least > most:
        raise section.refused("max_version", "it is below min_version")
    context.minimum_version, context.maximum_version = least, most


def _read_ciphers(section: Section, context: ssl.SSLContext) -> None:
    if section.boolean("prefer_server_cipher_suites", True):
        context.options |= ssl.OP_CIPHER_SERVER_PREFERENCE
    else:
        context.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE
    wanted = section.texts("cipher_suites")
    if not wanted:
        return
    allowed = (*cipher.TLS12_CIPHERS, *cipher.TLS13_CIPHERS)
    for name in wanted:
        if name not in allowed:
            raise section.refused("cipher_suites", f"{name!r} is not known", f"Allowed: {', '.join(allowed)}")
    named = [cipher.TLS12_CIPHERS[name] for name in wanted if name in cipher.TLS12_CIPHERS]
    if named:
        context.set_ciphers(":".join(named))
    elif context.maximum_version is ssl.TLSVersion.TLSv1_2:
        raise section.refused("cipher_suites", "none of them exists in TLS 1.2, which is max_version")
    else:
        context.minimum_version = ssl.TLSVersion.TLSv1_3


def _read_curves(section: Section, context: ssl.SSLContext) -> None:
    wanted = section.texts("curve_preferences")
    for name in wanted:
        if name not in cipher.CURVES:
            raise section.refused("curve_preferences", f"{name!r} is not known", f"Allowed: {', '.join(cipher.CURVES)}")
    if len(wanted) > 1:
        raise section.refused("curve_preferences", "Python's ssl takes one curve, not a list", "Name one, or none")
    if wanted:
        context.set_ecdh_curve(cipher.CURVES[wanted[0]])


def _read_clients(section: Section, context: ssl.SSLContext, watch: Watch) -> None:
    if (policy := section.text("client_auth_type")) in _UNVERIFIED:
        raise section.refused(
            "client_auth_type",
            f"Python's ssl cannot ask for a certificate that nobody verifies ({policy})",
            "Use RequireAndVerifyClientCert with client_ca_file",
        )
    context.verify_mode = _VERIFY[section.choice("client_auth_type", tuple(_VERIFY), "NoClientCert")]
    authority = section.path("client_ca_file", watch)
    if context.verify_mode is ssl.CERT_NONE:
        if authority is not None:
            raise section.refused(
                "client_ca_file",
                "nobody is asked for a certificate",
                "Add client_auth_type: RequireAndVerifyClientCert",
            )
    elif authority is None:
        context.load_default_certs(ssl.Purpose.CLIENT_AUTH)
    else:
        try:
            context.load_verify_locations(authority)
        except ssl.SSLError as error:
            raise section.refused("client_ca_file", f"{authority} holds no certificate in PEM") from error


def _names(certificate: dict[str, Any]) -> Iterable[str]:
    for kind, value in certificate.get("subjectAltName", ()):
        if kind in {"DNS", "email", "URI"}:
            yield value
        elif kind == "IP Address":
            yield str(ipaddress.ip_address(value))
