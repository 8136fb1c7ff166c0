import os
from typing import Any

import pytest
from nccl_exporter import layout
from nccl_exporter.errors import SourceError
from nccl_exporter.layout import SlotState
from nccl_exporter.names import Names


def test_names(mapped_file: Any, descriptor: int) -> None:
    for name in ("AllReduce", "RING", "un fit", "LL"):
        mapped_file.name(name)
    mapped_file.data["names"][0][3]["state"] = SlotState.CLAIMED
    names = Names()
    assert [names.get(descriptor, index) for index in range(5)] == ["AllReduce", "RING", None, None, None]
    assert names.get(descriptor, layout.NAMES) is None


def test_name_that_is_added_later(mapped_file: Any, descriptor: int) -> None:
    names = Names()
    assert names.get(descriptor, 0) is None
    mapped_file.name("AllReduce")
    assert names.get(descriptor, 0) is None  # the table was read for these rows already
    names.begin()
    assert names.get(descriptor, 0) == "AllReduce"


def test_name_that_was_read_once_stays(mapped_file: Any, descriptor: int) -> None:
    names = Names()
    mapped_file.name("AllReduce")
    names.get(descriptor, 0)
    mapped_file.set_text(mapped_file.data["names"][0][0], "text", "Forged")
    names.begin()
    assert names.get(descriptor, 5) is None
    assert names.get(descriptor, 0) == "AllReduce"


def test_file_that_is_cut(mapped_file: Any, descriptor: int) -> None:
    os.truncate(mapped_file.path, 100)
    with pytest.raises(SourceError, match="cut short"):
        Names().get(descriptor, 0)
