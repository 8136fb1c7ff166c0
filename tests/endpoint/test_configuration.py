# SPDX-License-Identifier: Apache-2.0
"""Good and bad files by name; promtool, which has Prometheus' own reader, has to agree."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from nccl_endpoint.configuration import WebConfig, load
from nccl_endpoint.document import Watch
from nccl_endpoint.errors import WebConfigError

FILES = Path(__file__).parent / "files"
HASH = "$2y$05$bRWbg8eOmAf7JLVEjYq8Uuf.ccjSyPXhSxchJhwkHRxZopaYgxoVe"
Read = Callable[[str], WebConfig]


def named(kind: str) -> list[str]:
    return sorted(path.name for path in FILES.glob(f"*.{kind}.yml"))


@pytest.fixture
def accepted_by_prometheus(directory: Path, promtool: str) -> Callable[[str], bool]:
    def check(name: str) -> bool:
        shutil.copy(FILES / name, directory)
        return subprocess.run([promtool, "check", "web-config", directory / name], check=False).returncode == 0

    return check


@pytest.fixture
def read(directory: Path) -> Read:
    def from_text(text: str) -> WebConfig:
        (directory / "web.yml").write_text(text)
        return load(directory / "web.yml", Watch())

    return from_text


@pytest.mark.parametrize("name", named("good"))
def test_good_for_both(name: str, directory: Path, accepted_by_prometheus: Callable[[str], bool]) -> None:
    assert accepted_by_prometheus(name)
    load(directory / name, Watch())


@pytest.mark.parametrize("name", named("bad"))
def test_bad_for_both(name: str, directory: Path, accepted_by_prometheus: Callable[[str], bool]) -> None:
    assert not accepted_by_prometheus(name)
    with pytest.raises(WebConfigError, match=f"^cannot use the web configuration \\({directory / name}.*: "):
        load(directory / name, Watch())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("http2", r"http_server_config\.http2\): this program speaks HTTP/1\.1 only\. Leave it out"),
        ("any-client", r"client_auth_type\): .* nobody verifies \(RequireAnyClientCert\)\. Use RequireAndVerify"),
        ("request-client", r"client_auth_type\): .* nobody verifies \(RequestClientCert\)\. Use RequireAndVerify"),
        ("old-version", r"min_version\): OpenSSL no longer offers TLS 1\.0 and 1\.1\. Allowed: TLS12, TLS13"),
        ("curves", r"curve_preferences\): Python's ssl takes one curve, not a list\. Name one, or none"),
    ],
)
def test_what_cannot_be_honoured_is_not_ignored(
    name: str, message: str, directory: Path, accepted_by_prometheus: Callable[[str], bool]
) -> None:
    assert accepted_by_prometheus(f"{name}.unsupported.yml")
    with pytest.raises(WebConfigError, match=message):
        load(directory / f"{name}.unsupported.yml", Watch())


def test_every_unsupported_file_has_its_message() -> None:
    assert len(named("unsupported")) == 5


# Keys that are younger than the promtool of most distributions.
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rate_limit: {interval: 1s, burst: 0}", r"rate_limit\.burst\): with 0 no request would ever be answered"),
        ("rate_limit: {interval: 5, burst: 1}", r"rate_limit\.interval\): expected a duration\. For example 500ms"),
        ("rate_limit: {interval: soon, burst: 1}", r"rate_limit\.interval\): expected a duration"),
        ("rate_limit: {interval: 1s, burst: true}", r"rate_limit\.burst\): expected a whole number"),
        (
            "rate_limit: {intervall: 1s}",
            r"rate_limit\.intervall\): there is no such key\. Allowed here: interval, burst",
        ),
        (
            "tls_server_config: {cert: x, key: y}",
            r"cert\): Python's ssl reads certificates from files only\. .*cert_file",
        ),
        ("tls_server_config: 1", r"\(.*: tls_server_config\): expected keys and values"),
        ("tls_server_config: {cert_file: 1}", r"cert_file\): expected a string"),
        ("tls_server_config: {cert_file: server.pem, key_file: server.key, cipher_suites: x}", r"expected a list"),
        ("tls_server_config: {cert_file: server.pem, key_file: server.key, cipher_suites: [1]}", r"expected a list of"),
        ("tls_server_config: {min_version: TLS12}", r"cert_file\): it is missing"),
        (
            "tls_server_config: {cert_file: server.pem, key_file: server.key, client_allowed_sans: [a]}",
            r"client_allowed_sans\): it needs a verified certificate\. Add client_auth_type: RequireAndVerify",
        ),
        (
            "tls_server_config: {cert_file: server.pem, key_file: server.key, min_version: TLS13, max_version: TLS12}",
            r"max_version\): it is below min_version",
        ),
        (
            "tls_server_config: {cert_file: server.pem, key_file: server.key, max_version: TLS12, "
            "cipher_suites: [TLS_AES_128_GCM_SHA256]}",
            r"cipher_suites\): none of them exists in TLS 1\.2",
        ),
        (
            "tls_server_config: {cert_file: server.pem, key_file: server.key, client_ca_file: web.yml, "
            "client_auth_type: RequireAndVerifyClientCert}",
            r"client_ca_file\): .*/web\.yml holds no certificate",
        ),
        ('http_server_config: {headers: {X-XSS-Protection: "a\\nServer: b"}}', r"printable ASCII characters only"),
        ("http_server_config: {headers: {X-XSS-Protection: 1}}", r"expected a string for a string\. Put it in quotes"),
        (f'basic_auth_users: {{"a:b": "{HASH}"}}', r"a name is not empty and has no colon"),
        (f'basic_auth_users: {{a: "{HASH.replace("05", "03")}"}}', r"not a bcrypt hash. Make one with: htpasswd"),
        ("&a [*a]", r"expected keys and values"),
        ("[" * 5000, r"not YAML"),
        ("\x01", r"not YAML"),
    ],
)
def test_refused(text: str, message: str, read: Read) -> None:
    with pytest.raises(WebConfigError, match=message):
        read(text)


def test_hash_is_not_shown(read: Read) -> None:
    with pytest.raises(WebConfigError) as caught:
        read("basic_auth_users: {prometheus: hunter2}")
    assert "hunter2" not in str(caught.value)


def test_key_with_a_passphrase_does_not_ask_for_it(directory: Path, read: Read) -> None:
    subprocess.run(
        [
            "openssl",
            "ec",
            "-in",
            directory / "server.key",
            "-aes256",
            "-passout",
            "pass:x",
            "-out",
            directory / "locked",
        ],
        check=True,
        capture_output=True,
    )
    with pytest.raises(WebConfigError, match=r"key_file\): .*/locked is encrypted\. Store it without a passphrase"):
        read("tls_server_config: {cert_file: server.pem, key_file: locked}")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(WebConfigError, match=rf"\({tmp_path}/web\.yml\): No such file"):
        load(tmp_path / "web.yml", Watch())


def test_huge_file(tmp_path: Path) -> None:
    (tmp_path / "web.yml").write_bytes(b"#" * (1 << 20) + b"#")
    with pytest.raises(WebConfigError, match="it has more than 1048576 bytes"):
        load(tmp_path / "web.yml", Watch())


def test_only_ciphers_of_tls_1_3_mean_tls_1_3(read: Read) -> None:
    config = read(
        "tls_server_config: {cert_file: server.pem, key_file: server.key, cipher_suites: [TLS_AES_128_GCM_SHA256]}"
    )
    assert config.tls is not None
    assert config.tls.context.minimum_version.name == "TLSv1_3"


def test_empty_header_is_not_set(read: Read) -> None:
    assert read('http_server_config: {headers: {X-XSS-Protection: "", X-Frame-Options: deny}}').headers == {
        "X-Frame-Options": "deny"
    }
