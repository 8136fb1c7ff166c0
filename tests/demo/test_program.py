import pytest

from sentinel.demo.program import find_program
from sentinel.errors import SentinelError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sentinel.demo.program._CHECKOUT", tmp_path / "checkout")
    (tmp_path / "checkout").mkdir()
    return tmp_path


def make_program(path):
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_found_by_any_of_its_names(folder):
    program = make_program(folder / "prometheus-alertmanager")
    assert program == find_program("alertmanager", "prometheus-alertmanager")


def test_the_checkouts_own_is_the_last_resort(folder):
    own = make_program(folder / "checkout" / "prometheus")
    assert own == find_program("prometheus")
    on_the_path = make_program(folder / "prometheus")
    assert on_the_path == find_program("prometheus")


def test_a_missing_one_says_what_to_run(folder):
    with pytest.raises(SentinelError, match="alertmanager was not found") as caught:
        find_program("alertmanager", "prometheus-alertmanager")
    assert "make setup" in caught.value.hint
    assert "apt-get install prometheus prometheus-alertmanager" in caught.value.hint
