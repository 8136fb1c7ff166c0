from pathlib import Path

from sentinel.daemon.identity import instance_id


def test_the_same_daemon_is_the_same_after_a_restart(tmp_path: Path) -> None:
    assert instance_id(tmp_path) == instance_id(tmp_path / ".." / tmp_path.name)


def test_any_other_is_another(tmp_path: Path) -> None:
    machine = tmp_path / "machine-id"
    machine.write_text("0123\n")
    ids = {
        instance_id(Path("/a"), "host", machine),
        instance_id(Path("/b"), "host", machine),
        instance_id(Path("/a"), "other", machine),
        instance_id(Path("/a"), "host", tmp_path / "missing"),
    }
    assert len(ids) == 4
    assert all(one.rpartition("-")[0] in {"host", "other"} for one in ids)
