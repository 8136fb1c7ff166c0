import subprocess

import pytest

from sentinel.config.loader import load
from sentinel.demo.configuration import alertmanager_yaml, daemon_toml, prometheus_yaml
from sentinel.demo.program import find_program


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("promtool", ["check", "config"], prometheus_yaml(9400)),
        ("amtool", ["check-config"], alertmanager_yaml("http://127.0.0.1:9/alerts")),
    ],
)
def test_the_servers_own_tools_accept_it(tool, arguments, text, tmp_path):
    path = tmp_path / "configuration.yml"
    path.write_text(text)
    result = subprocess.run([find_program(tool), *arguments, path], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_daemon_accepts_it(tmp_path):
    path = tmp_path / "sentinel.toml"
    path.write_text(daemon_toml("http://127.0.0.1:1", "http://127.0.0.1:2", "127.0.0.1:0", tmp_path / "state", "10s"))

    settings = load(path, {})

    assert str(settings.prometheus.url) == "http://127.0.0.1:1"
    assert [str(url) for url in settings.alertmanager.urls] == ["http://127.0.0.1:2"]
    assert settings.state.directory == tmp_path / "state"
    assert settings.schedule.tick.total_seconds() == 2
    assert settings.detection.stalled.stall_after.total_seconds() == 10
