"""Links between the documents, and to files, lead somewhere."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from deployment.rule_files import CONFIG

ROOT = CONFIG.parent
DOCUMENTS = sorted(
    file
    for file in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/**/README.md"))
    if not {".venv", "node_modules"} & set(file.parts)
)


def prose(file: Path) -> str:
    """A document without what stands in code."""
    text = re.sub(r"^```.*?^```", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "code", text)


@cache
def anchors(file: Path) -> frozenset[str]:
    """What a heading may be linked by, as GitHub makes it: the second of its name ends in -1."""
    found: list[str] = []
    text = re.sub(r"^```.*?^```", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ +(.*?) *$", text, re.MULTILINE):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        found.append(re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-"))
    return frozenset(
        f"{each}-{count}" if (count := found[:place].count(each)) else each for place, each in enumerate(found)
    )


def links(file: Path) -> Iterator[str]:
    yield from re.findall(r"\]\(([^)\s]+)\)", prose(file))


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_links_lead_somewhere(file: Path) -> None:
    for link in links(file):
        if re.match(r"[a-z]+://|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        linked = (file.parent / path).resolve() if path else file
        assert linked.exists(), link
        assert linked.is_relative_to(ROOT), link
        if anchor:
            assert linked.suffix == ".md", link
            assert anchor in anchors(linked), link


def test_the_readme_leads_to_every_document() -> None:
    seen, ahead = set(), [ROOT / "README.md"]
    while ahead:
        file = ahead.pop()
        if file in seen or file.suffix != ".md" or not file.exists():
            continue
        seen.add(file)
        ahead += [
            (file.parent / link.partition("#")[0]).resolve()
            for link in links(file)
            if "://" not in link and not link.startswith("#")
        ]
    assert set(ROOT.glob("docs/**/*.md")) - seen == set()
