import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = (ROOT / "requirements.lock").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def normalized(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.match(r"[A-Za-z0-9._-]+", requirement)[0]).lower()


def test_locks_everything_that_the_project_asks_for():
    groups = PROJECT["dependency-groups"]
    asked = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"], *groups["build"]]
    asked += [each for each in groups["dev"] if isinstance(each, str)]
    locked = {normalized(line) for line in LOCK.splitlines() if re.match(r"[a-z0-9].*==", line)}
    assert {normalized(each) for each in asked} <= locked


def test_every_pin_has_a_hash_and_no_address():
    for pin in re.split(r"\n(?=[a-z0-9])", LOCK.strip()):
        assert "--hash=sha256:" in pin
    assert "://" not in LOCK
