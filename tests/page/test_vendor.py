"""What is taken from others is what it is said to be."""

import hashlib
import re
from importlib.resources import files
from pathlib import Path

import pytest

VENDOR = Path(str(files("sentinel.page"))) / "static" / "vendor"
AXE = Path(__file__).parent / "axe"


@pytest.mark.parametrize(("folder", "readme"), [(VENDOR, "README.txt"), (AXE, "README.md")])
def test_files_are_pinned_and_have_their_licence(folder: Path, readme: str) -> None:
    text = (folder / readme).read_text()
    pinned = set(re.findall(r"\b[0-9a-f]{64}\b", text))
    code = [file for file in folder.iterdir() if file.suffix in {".js", ".css"}]
    assert {hashlib.sha256(file.read_bytes()).hexdigest() for file in code} == pinned
    assert re.search(r"\d+\.\d+\.\d+, (MIT|MPL-2\.0)", text)
    assert any("LICENSE" in file.name for file in folder.iterdir())


def test_the_page_names_nobody_else() -> None:
    """Nothing is fetched from another server: the page works where there is no way out."""
    own = [file for file in VENDOR.parent.iterdir() if file.suffix in {".js", ".css", ".html"}]
    assert len(own) > 10
    for file in own:
        addresses = set(re.findall(r"https?://[^\s\"'`)]+", file.read_text()))
        assert addresses <= {"http://www.w3.org/2000/svg"}, file.name
