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


def test_the_state_directory_can_be_written_or_made(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for directory, fault in (
        (tmp_path, ""),
        (tmp_path / "new", ""),
        (file, "it is no directory"),
        (tmp_path / "none" / "new", f"there is no directory {tmp_path / 'none'}"),
    ):
        settings = load(None, {}, {"state": {"directory": str(directory)}}, default=tmp_path / "none.toml")
        if not fault:
            check_files(settings)
            continue
        with pytest.raises(ConfigError, match="files that cannot be used") as caught:
            check_files(settings)
        assert caught.value.why.strip() == f"state.directory = {str(directory)!r}: {fault}"
    assert not (tmp_path / "new").exists()
