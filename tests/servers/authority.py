# SPDX-License-Identifier: Apache-2.0
"""Certificates made for a test, with the openssl command."""

import subprocess
from pathlib import Path

_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]


class Authority:
    """Signs certificates into a directory; `certificate` is its own."""

    def __init__(self, directory: Path, name: str = "authority") -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self.certificate, self._key = directory / f"{name}.pem", directory / f"{name}.key"
        self._openssl("-subj", f"/CN={name}", "-keyout", self._key, "-out", self.certificate)

    def issue(self, name: str, names: str = "IP:127.0.0.1,DNS:localhost") -> tuple[Path, Path]:
        """A certificate for servers and clients with those alternative names, and its key."""
        certificate, key = self._directory / f"{name}.pem", self._directory / f"{name}.key"
        self._openssl(
            *("-subj", f"/CN={name}", "-keyout", key, "-out", certificate),
            *("-CA", self.certificate, "-CAkey", self._key),
            *("-addext", f"subjectAltName={names}", "-addext", "extendedKeyUsage=serverAuth,clientAuth"),
            *("-addext", "basicConstraints=CA:FALSE"),
        )
        return certificate, key

    def _openssl(self, *arguments: str | Path) -> None:
        subprocess.run(["openssl", "req", "-x509", *_KEY, *arguments], check=True, capture_output=True)
