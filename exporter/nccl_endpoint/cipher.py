# SPDX-License-Identifier: Apache-2.0
"""Cipher suites, curves and versions: the names that the file has for them, and OpenSSL's."""

import ssl
from typing import Final

# Go's names of the suites that it holds secure (crypto/tls.CipherSuites), for TLS 1.2.
TLS12_CIPHERS: Final = {
    f"TLS_ECDHE_{key}_WITH_{go}": f"ECDHE-{key}-{openssl}"
    for key in ("ECDSA", "RSA")
    for go, openssl in (
        ("AES_128_GCM_SHA256", "AES128-GCM-SHA256"),
        ("AES_256_GCM_SHA384", "AES256-GCM-SHA384"),
        ("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305"),
        ("AES_128_CBC_SHA", "AES128-SHA"),
        ("AES_256_CBC_SHA", "AES256-SHA"),
    )
}
# Always offered, in Go as well as here: the list only chooses among those of TLS 1.2.
TLS13_CIPHERS: Final = ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")

CURVES: Final = {"CurveP256": "prime256v1", "CurveP384": "secp384r1", "CurveP521": "secp521r1", "X25519": "X25519"}

VERSIONS: Final = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}
OLD_VERSIONS: Final = ("TLS10", "TLS11")
