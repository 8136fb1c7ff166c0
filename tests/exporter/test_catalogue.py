from pathlib import Path

import pytest
from nccl_exporter import catalogue
from nccl_exporter.catalogue import CATALOGUE, Family

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_page_of_the_documentation_holds_the_table() -> None:
    assert catalogue.table() in PAGE.read_text(encoding="utf-8"), (
        "docs/metrics.md is behind the catalogue: put the output of `python -m nccl_exporter.catalogue` there"
    )


def test_every_family_of_the_module_is_in_the_catalogue_once() -> None:
    families = [value for value in vars(catalogue).values() if isinstance(value, Family)]
    assert sorted(families, key=lambda family: family.name) == sorted(CATALOGUE, key=lambda family: family.name)
    assert len({family.name for family in CATALOGUE}) == len(CATALOGUE)


@pytest.mark.parametrize("family", CATALOGUE, ids=lambda family: family.name)
def test_family(family: Family) -> None:
    assert family.name.endswith("_total") == (family.kind == "counter")
    assert "\n" not in family.help
    assert "|" not in family.help
    assert len(set(family.labels)) == len(family.labels)


def test_line_escapes_its_labels() -> None:
    family = Family("a", "gauge", "", ("b", "c"), "help")
    assert family.line(('x"y\\', "100%s"), 1) == 'a{b="x\\"y\\\\",c="100%s"} 1\n'
    assert Family("a", "gauge", "", (), "help").line((), 0.5) == "a 0.5\n"
