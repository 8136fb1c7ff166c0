from pathlib import Path

import pytest
from matplotlib.figure import Figure

from sentinel.errors import ConfigError
from sentinel.plot.picture_file import check_picture_path, write_picture

MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".PNG": b"\x89PNG"}


@pytest.mark.parametrize("suffix", MAGIC)
def test_the_suffix_is_the_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    check_picture_path(path)
    write_picture(Figure(), path)
    assert path.read_bytes().startswith(MAGIC[suffix])
    assert list(tmp_path.iterdir()) == [path]
    (plain := tmp_path / "plain").touch()
    assert path.stat().st_mode == plain.stat().st_mode


@pytest.mark.parametrize("name", ["a.jpg", "a", "a.png.gz", ".png"])
def test_other_suffixes_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"Use one of \.png, \.svg, \.pdf"):
        check_picture_path(tmp_path / name)


def test_places_where_no_file_can_be(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no directory"):
        check_picture_path(tmp_path / "none" / "a.png")
    (tmp_path / "b.png").mkdir()
    with pytest.raises(ConfigError, match="it is a directory"):
        check_picture_path(tmp_path / "b.png")


def test_a_file_is_replaced_at_the_end_or_stays(tmp_path: Path) -> None:
    class Broken:
        def savefig(self, fname: object, /, **_: object) -> None:
            fname.write(b"half")  # type: ignore[attr-defined]
            raise OSError(28, "No space left on device")

    path = tmp_path / "a.png"
    path.write_bytes(b"old")
    with pytest.raises(ConfigError, match="No space left on device"):
        write_picture(Broken(), path)
    assert path.read_bytes() == b"old"
    write_picture(Figure(), path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "a.svg"
    link.symlink_to(tmp_path / "there" / "b.svg")
    write_picture(Figure(), link)
    assert link.is_symlink()
    assert (tmp_path / "there" / "b.svg").read_bytes().startswith(b"<?xml")
