"""A self-signed certificate for 127.0.0.1, for tests only: it is its own authority, and serves as the client's too."""

import ssl
from pathlib import Path

CERTIFICATE = Path(__file__).with_name("certificate.pem")
KEY = Path(__file__).with_name("key.pem")


def server_context(*, mutual: bool = False) -> ssl.SSLContext:
    """For a test server; a `mutual` one demands the client's certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)
    if mutual:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(CERTIFICATE)
    return context
