"""The daemon under a systemd that runs this machine, as shipped: it says that it is up, is reloaded, and stops."""

import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from deployment.rule_files import CONFIG
from deployment.tool import run, tool
from servers.process import wait_until

UNITS = Path("/run/systemd/system")  # there where systemd is the service manager, and empty after a restart
# Another name, user and program; the rest is the shipped unit's.
DROP_IN = """[Service]
EnvironmentFile=
User=
Group=
DynamicUser=yes
ConfigurationDirectory=
StateDirectory=
StateDirectory={name}
ExecStart=
ExecStart={python} -m sentinel run --config {config}
"""


class Service:
    """The unit under its other name."""

    def __init__(self, systemctl: str, name: str) -> None:
        self._systemctl = systemctl
        self._name = name

    def do(self, *verb: str) -> None:
        done = run(self._systemctl, *verb, self._name)
        assert done.returncode == 0, done.stderr + run(self._systemctl, "status", self._name).stdout

    def show(self, key: str) -> str:
        return run(self._systemctl, "show", "--value", f"--property={key}", self._name).stdout.strip()


@pytest.fixture
def service() -> Iterator[Service]:
    systemctl = tool("systemctl")
    if not UNITS.is_dir():
        pytest.skip("this machine is not run by systemd")
    if os.geteuid() != 0:
        pytest.skip("only root may add a unit")
    if any(Path(sys.base_prefix).is_relative_to(home) for home in ("/home", "/root")):
        pytest.skip("the unit may not see homes, and this Python is in one")
    name = f"nccl-sentinel-test-{secrets.token_hex(4)}"
    unit, drop_in, config = UNITS / f"{name}.service", UNITS / f"{name}.service.d", Path("/run") / f"{name}.toml"
    unit.write_text((CONFIG / "systemd" / "nccl-sentinel.service").read_text(encoding="utf-8"))
    drop_in.mkdir()
    (drop_in / "test.conf").write_text(DROP_IN.format(name=name, python=sys.executable, config=config))
    # Nobody listens on the discard port: the daemon has to be up nevertheless.
    config.write_text('[prometheus]\nurl = "http://127.0.0.1:9"\n[alertmanager]\nurls = []\n')
    config.chmod(0o644)
    try:
        run(systemctl, "daemon-reload")
        yield Service(systemctl, f"{name}.service")
    finally:
        run(systemctl, "stop", f"{name}.service")
        run(systemctl, "clean", "--what=state", f"{name}.service")
        for file in (unit, drop_in / "test.conf", config):
            file.unlink()
        drop_in.rmdir()
        run(systemctl, "daemon-reload")


def test_the_unit_runs(service: Service) -> None:
    service.do("start")  # of Type=notify: it waits until the daemon says that it is ready
    assert service.show("ActiveState") == "active"
    assert service.show("StatusText").startswith("watching")
    process = service.show("MainPID")
    before = service.show("StateChangeTimestampMonotonic")

    service.do("reload")
    wait_until(lambda: service.show("StateChangeTimestampMonotonic") != before, "it says that it reloads")
    wait_until(lambda: service.show("ActiveState") == "active", "it has reloaded")
    assert service.show("MainPID") == process

    service.do("stop")  # past TimeoutStopSec it would be killed, and the result another one
    assert service.show("Result") == "success"
    assert service.show("NRestarts") == "0"
