"""docs/deployment-systemd.md: its configuration is one, and what it names is there."""

import re
from pathlib import Path

import yaml
from deployment.rule_files import CONFIG

from sentinel.config.loader import load

ROOT = CONFIG.parent
GUIDE = (ROOT / "docs" / "deployment-systemd.md").read_text(encoding="utf-8")
UNIT = (CONFIG / "systemd" / "nccl-sentinel.service").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    return str(found)


def test_its_configuration_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "sentinel.toml"
    file.write_text(block("toml"))
    settings = load(file, {})
    prometheus = yaml.safe_load((CONFIG / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    assert settings.alertmanager.external_labels == prometheus["global"]["external_labels"]
    (scrape,) = (each for each in prometheus["scrape_configs"] if each["job_name"] == "nccl-sentinel")
    assert scrape["static_configs"][0]["targets"][0].endswith(settings.web.listen_address)


def test_its_credentials_are_those_of_the_unit() -> None:
    lines = block("ini").splitlines()[1:]
    assert [line.removeprefix("#") for line in UNIT.splitlines() if "LoadCredential=" in line] == lines
    given = {line.removeprefix("LoadCredential=").split(":")[0] for line in lines}
    named = set(re.findall(r"/run/credentials/nccl-sentinel\.service/([\w.-]+)", block("toml")))
    named |= set(yaml.safe_load(block("yaml"))["tls_server_config"].values())
    assert named == given


def test_users_of_the_endpoint_are_those_who_come() -> None:
    users = yaml.safe_load(block("yaml"))["basic_auth_users"].keys()
    alertmanager = yaml.safe_load((CONFIG / "alertmanager" / "alertmanager.yml").read_text(encoding="utf-8"))
    prometheus = yaml.safe_load((CONFIG / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    come = {
        hook["http_config"]["basic_auth"]["username"]
        for receiver in alertmanager["receivers"]
        for hook in receiver["webhook_configs"]
        if "http_config" in hook
    }
    come |= {each["basic_auth"]["username"] for each in prometheus["scrape_configs"]}
    assert users == come


def test_files_that_it_names_exist() -> None:
    for path in re.findall(r"\bcp (config/\S+)", GUIDE):
        assert (ROOT / path).is_file(), path
    for target in re.findall(r"\]\(([^)#]+)", GUIDE):
        assert (ROOT / "docs" / target).resolve().is_file(), target
