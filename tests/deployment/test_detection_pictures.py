"""The pictures of docs/detection.md can be drawn again, and show what the detectors say."""

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from deployment.rule_files import CONFIG

ROOT = CONFIG.parent
IMAGES = ROOT / "docs" / "images"
LARGEST_BYTES = 150_000


@pytest.fixture
def script() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("detection_pictures", ROOT / "scripts" / "detection_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_they_are_drawn_again(script: ModuleType, tmp_path: Path) -> None:
    # It refuses to draw what would not show what the page says.
    script.draw(tmp_path)
    drawn = {file.name for file in tmp_path.iterdir()}
    assert {file.name for file in IMAGES.glob("detection-*")} == drawn
    page = (ROOT / "docs" / "detection.md").read_text(encoding="utf-8")
    assert set(re.findall(r"images/(detection-[\w.-]+)", page)) == drawn
    assert all(file.stat().st_size < LARGEST_BYTES for file in (*tmp_path.iterdir(), *IMAGES.glob("detection-*")))


def test_another_finding_is_not_drawn(script: ModuleType) -> None:
    with pytest.raises(ValueError, match="the detectors say something else"):
        script.expect(script.named([]) == {(5,)}, script.named([]))
