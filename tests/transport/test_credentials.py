import base64
import subprocess
from pathlib import Path

import pytest
from servers.tls import CERTIFICATE, KEY

from sentinel.config.access import AccessSettings
from sentinel.errors import ConfigError
from sentinel.transport.credentials import authorization, tls_context


def test_a_token_is_read_anew_each_time(tmp_path: Path) -> None:
    token = tmp_path / "token"
    access = AccessSettings(bearer_token_file=token)
    token.write_text("first\n")
    assert authorization(access) == "Bearer first"
    token.write_text("second")
    assert authorization(access) == "Bearer second"


def test_basic_authentication(tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("sesame\n")
    header = authorization(AccessSettings(username="ali", password_file=password))
    assert header == "Basic " + base64.b64encode(b"ali:sesame").decode()


def test_without_credentials_there_is_no_header() -> None:
    assert authorization(AccessSettings()) is None


@pytest.mark.parametrize(
    ("content", "why"), [(b"", "empty"), (b"\n", "empty"), (b"a\nb", "one line"), (b"\xff", "ASCII")]
)
def test_a_file_that_holds_no_secret_is_refused(tmp_path: Path, content: bytes, why: str) -> None:
    token = tmp_path / "token"
    token.write_bytes(content)
    with pytest.raises(ConfigError, match=why) as caught:
        authorization(AccessSettings(bearer_token_file=token))
    assert caught.value.where == str(token)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        authorization(AccessSettings(bearer_token_file=tmp_path / "none"))


def test_tls_files_are_checked(tmp_path: Path) -> None:
    broken = tmp_path / "broken.pem"
    broken.write_text("no certificate")
    with pytest.raises(ConfigError, match="cannot use ca_file"):
        tls_context(AccessSettings(ca_file=broken))
    with pytest.raises(ConfigError, match="cannot use ca_file"):
        tls_context(AccessSettings(ca_file=tmp_path / "none.pem"))
    with pytest.raises(ConfigError, match="cannot use cert_file with key_file"):
        tls_context(AccessSettings(cert_file=CERTIFICATE, key_file=broken))
    assert tls_context(AccessSettings(ca_file=CERTIFICATE, cert_file=CERTIFICATE, key_file=KEY)).check_hostname


def test_a_key_with_a_passphrase_is_refused_and_asks_nobody(tmp_path: Path) -> None:
    key = tmp_path / "locked.key"
    command = ["openssl", "pkey", "-in", KEY, "-aes256", "-passout", "pass:sesame", "-out", key]
    subprocess.run(command, check=True, capture_output=True)
    with pytest.raises(ConfigError, match="cannot use cert_file with key_file") as caught:
        tls_context(AccessSettings(cert_file=CERTIFICATE, key_file=key))
    assert str(key) in caught.value.where
