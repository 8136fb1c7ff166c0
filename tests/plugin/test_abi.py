"""The descriptors' static asserts against the layout that NCCL's own headers gave."""

import json
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RECORDED = json.loads((HERE / "abi_layout.json").read_text())
INDEPENDENT = ROOT.parent / "shared/nccl/abi_layout.json"


def asserted(version: str) -> dict[str, object]:
    """What a header asserts, in the form of the recorded layout."""
    text = (ROOT / f"plugin/include/nccl_sentinel/abi_{version}.h").read_text()
    (sizes,) = re.findall(r"^NCCL_SENTINEL_ABI_SIZES\((\d+), (\d+), (\d+)\);", text, re.MULTILINE)
    fields = re.findall(r"^NCCL_SENTINEL_ABI_FIELD\(([\w.]+), (\d+), (\d+)\);", text, re.MULTILINE)
    return {
        "sizeof_descriptor": int(sizes[0]),
        "sizeof_state_args": int(sizes[1]),
        "sizeof_vtable": int(sizes[2]),
        "fields": {name: [int(offset), int(size)] for name, offset, size in fields},
    }


@pytest.mark.parametrize("version", [f"v{number}" for number in range(1, 8)])
def test_every_field_is_asserted_where_nccl_has_it(version):
    assert asserted(version) == RECORDED[version]


def test_the_recorded_layout_is_the_measured_one():
    """Where the measurement lies beside the project it must be what was recorded from it."""
    measured = json.loads(INDEPENDENT.read_text()) if INDEPENDENT.exists() else RECORDED
    assert measured == RECORDED
