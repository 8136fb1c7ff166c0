import os
from pathlib import Path

import pytest

from sentinel.errors import StateError
from sentinel.state.lock import DirectoryLock


def test_a_directory_has_one_daemon(tmp_path: Path) -> None:
    with DirectoryLock(tmp_path):
        with pytest.raises(StateError, match=f"another daemon \\(process {os.getpid()}\\) uses it") as caught:
            DirectoryLock(tmp_path)
        assert "state.directory" in caught.value.hint
    with DirectoryLock(tmp_path):
        pass


def test_deleting_what_is_in_it_lets_no_second_one_in(tmp_path: Path) -> None:
    with DirectoryLock(tmp_path):
        (tmp_path / "lock").unlink()
        with pytest.raises(StateError, match="another daemon uses it"):
            DirectoryLock(tmp_path)
    with DirectoryLock(tmp_path):
        pass


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="No such file") as caught:
        DirectoryLock(tmp_path / "none")
    assert caught.value.where == str(tmp_path / "none" / "lock")
