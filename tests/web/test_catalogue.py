from pathlib import Path

import pytest
from nccl_endpoint.family import MetricFamily

from sentinel.web import catalogue
from sentinel.web.catalogue import CATALOGUE

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_page_of_the_documentation_holds_the_table() -> None:
    assert catalogue.table() in PAGE.read_text(encoding="utf-8"), (
        "docs/metrics.md is behind the catalogue: put the output of `python -m sentinel.web.catalogue` there"
    )


def test_no_name_is_there_twice() -> None:
    assert len({family.name for family in CATALOGUE}) == len(CATALOGUE) > 0


@pytest.mark.parametrize("family", CATALOGUE, ids=lambda family: family.name)
def test_family(family: MetricFamily) -> None:
    assert family.name.startswith("nccl_sentinel_")
    assert family.name.endswith("_total") == (family.kind == "counter")
    assert ("_seconds" in family.name) == (family.unit == "seconds")
    assert "\n" not in family.help
    assert "|" not in family.help
