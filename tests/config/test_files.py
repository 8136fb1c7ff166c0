from pathlib import Path

import pytest

from sentinel.config.files import check_files
from sentinel.config.loader import load
from sentinel.errors import ConfigError


def test_every_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    flags = {
        "prometheus": {"ca_file": str(tmp_path / "none.pem")},
        "alertmanager": {"username": "a", "password_file": str(empty)},
    }
    with pytest.raises(ConfigError) as caught:
        check_files(load(None, {}, flags, default=tmp_path / "none.toml"))
    lines = caught.value.why.strip().splitlines()
    assert "prometheus.ca_file" in lines[0]
    assert "No such file" in lines[0]
    assert "alertmanager.password_file" in lines[1]
    assert "empty" in lines[1]


def test_readable_files_are_fine(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("secret\n")
    check_files(load(None, {}, {"prometheus": {"bearer_token_file": str(token)}}, default=tmp_path / "none.toml"))
