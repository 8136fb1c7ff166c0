"""The mapped file's bytes, which readers in other languages rely on, do not change unseen (tests/golden/README.md)."""

import lzma
import subprocess
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden"


def test_bytes(native):
    made = subprocess.check_output([native.tool("nccl-sentinel-golden")])
    assert made == lzma.decompress((GOLDEN / "mapped-file-v2.bin.xz").read_bytes())


def test_sizes_and_offsets(native):
    made = subprocess.check_output([native.tool("nccl-sentinel-layout")], text=True)
    assert made == (GOLDEN / "mapped-file-v2.layout.json").read_text()
