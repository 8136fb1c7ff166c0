"""The page in a real browser, on the demo: its incident is found, its rank is marked, its evidence opens.

With PICTURES=docs/images it draws the pictures of the documentation.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from page.demo_job import LATE_RANK, accused, demo_job, get, seconds_of
from page.visit import DESKTOP, PHONE, barriers, follow, labels, overlaps, visit
from playwright.sync_api import Browser, Page, expect

from sentinel.model.instant import parse_instant

PICTURES = os.environ.get("PICTURES")
DRAWN = (
    "page-overview-light.png",
    "page-communicator-light.png",
    "page-communicator-dark.png",
    "page-incident-dark.png",
    "page-overview-phone-light.png",
)
# Pixels by row and column: red, green, blue; and what they were made of.
CELLS = """() => {
  const canvas = document.querySelector(".heat-canvas"), { width, height } = canvas;
  const copy = new OffscreenCanvas(width, height).getContext("2d");
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, width, height);
  const at = (place) => [...data.slice(4 * place, 4 * place + 3)];
  const rows = [...Array(height).keys()].map((row) => [...Array(width).keys()].map((x) => at(row * width + x)));
  return { cells: canvas.dataset.cells, rows };
}"""


@dataclass(frozen=True)
class Cell:
    """One rank at one time: its number, and its colour."""

    rank: int
    time: float
    seconds: float
    colour: tuple[int, int, int]

    @property
    def red(self) -> int:
        return self.colour[0]

    @property
    def blue(self) -> int:
        return self.colour[2]

    @property
    def depth(self) -> int:
        """In every ramp of light pages green fades from the palest to the deepest."""
        return 255 - self.colour[1]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with demo_job(tmp_path_factory.mktemp("demo")) as address:
        yield address


def link(url: str) -> str:
    """The incident's, in the list of incidents."""
    return f'tr[data-incident="{accused(url)["id"]}"] .incident-link'


def test_the_incident_is_found_and_its_evidence_opens(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        row = page.locator('tr[data-job="demo"]')
        expect(row).to_contain_text("slow")
        expect(row).to_contain_text("watching")
        follow(page, link(url))
        expect(page.locator("h1")).to_contain_text("Rank 3")
        expect(page.locator("dl.facts").first).to_contain_text("7 ranks wait for it")
        evidence = page.locator("details.evidence")
        expect(evidence.locator("table")).to_contain_text("AllGather")
        evidence.locator("summary").click()
        expect(evidence.locator("table")).to_be_hidden()
        evidence.locator("summary").click()
        expect(evidence.locator("table")).to_be_visible()
        # The picture: the culprit is a line of its own.
        expect(page.locator("figure .legend").first).to_contain_text("rank 3")
        assert page.locator("figure canvas").first.bounding_box()["width"] > 300
        assert page.locator(".links a").last.get_attribute("href").startswith("http://127.0.0.1")


def test_the_culprits_row_is_marked_and_leads_to_its_incident(browser: Browser, url: str) -> None:
    with visit(browser, url, f"/#/communicator/{accused(url)['comm']}") as page:
        mark = page.locator('.heat-mark[data-rank="3"]')
        expect(mark).to_have_count(1)
        outlined = page.locator(f'.heat-outline[data-incident="{accused(url)["id"]}"]')
        outline, canvas = outlined.bounding_box(), page.locator(".heat-canvas").bounding_box()
        row = (outline["y"] + outline["height"] / 2 - canvas["y"]) / (canvas["height"] / 8)
        assert int(row) == 3
        expect(page.locator(".heat-summary")).to_have_text(re.compile(r"Marked: .*Rank 3\b"))
        expect(page.locator('.ranking tbody tr[data-rank="3"] a').first).to_have_text("incident")
        follow(page, '.heat-mark[data-rank="3"]')
        expect(page.locator("h1")).to_contain_text("Rank 3")


def drawn(page: Page, url: str, comm: str, quantity: str) -> list[Cell]:
    """Every cell of the picture that was measured, the smallest number first."""
    shown = page.evaluate(CELLS)
    # The picture may be older than the answer by a tick or two.
    document = get(url, "heatmap", comm=comm, span="ticks", quantity=quantity)
    rows, columns = map(int, shown["cells"].removeprefix(f"{quantity} ").split("x"))
    times, seconds = document["times"][:columns], seconds_of(document)[:, :columns]
    assert seconds.shape == (rows, columns)
    gaps = sorted(after - before for before, after in pairwise(times))
    slots = [round((time - times[0]) / gaps[len(gaps) // 2]) for time in times]
    column_of = {slot: column for column, slot in enumerate(slots)}  # the later one is drawn over the other
    found = [
        Cell(document["global_ranks"][row], times[column], seconds[row, column], tuple(shown["rows"][row][slot]))
        for slot, column in column_of.items()
        for row in range(rows)
        if not np.isnan(seconds[row, column])
    ]
    return sorted(found, key=lambda each: each.seconds)


def test_the_late_rank_has_the_colour_of_late(browser: Browser, url: str) -> None:
    incident = accused(url)
    started_at = parse_instant(incident["started_at"])
    with visit(browser, url, f"/#/communicator/{incident['comm']}") as page:
        cells = drawn(page, url, incident["comm"], "lateness")
        # A real job's ticks are noisy, more so on a busy machine: colours are compared with the numbers.
        warmth = [each.depth if each.red > each.blue else -each.depth for each in cells]
        assert warmth == sorted(warmth)
        assert all(each.red > each.blue for each in cells if each.seconds > 0.0)
        assert cells[-1].red > cells[-1].blue + 40
        of_the_fault = [each for each in cells if each.rank == LATE_RANK and each.time > started_at]
        assert sum(each.red > each.blue for each in of_the_fault) > len(of_the_fault) / 2
        # Where it waits for nobody it is inside for less than the others.
        page.check('input[value="duration"]', force=True)
        page.wait_for_selector('canvas[data-cells^="duration"]')
        depths = [each.depth for each in drawn(page, url, incident["comm"], "duration")]
        assert depths == sorted(depths)
        assert depths[-1] > depths[0]


def test_percentiles_and_channels_come_from_the_store(browser: Browser, url: str) -> None:
    with visit(browser, url, f"/#/communicator/{accused(url)['comm']}") as page:
        durations = page.locator(".curves").filter(has_text="Durations by operation")
        expect(durations.locator("thead")).to_contain_text("P50P95P99")
        expect(durations.locator("tbody")).to_contain_text("AllGather")
        channels = page.locator(".curves").filter(has_text="Bandwidth of a channel")
        expect(channels.locator("tbody")).to_contain_text("B/s")


def test_by_keyboard_alone(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        page.keyboard.press("Tab")
        expect(page.locator("#skip")).to_be_focused()
        page.keyboard.press("Enter")
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.matches('.incidents .incident-link')"):
                break
        page.keyboard.press("ArrowDown")  # there is one only
        page.keyboard.press("Enter")
        expect(page.locator("details.evidence")).to_be_visible()
    with visit(browser, url, f"/#/communicator/{accused(url)['comm']}") as page:
        page.focus(".heat-scroll")
        page.keyboard.press("m")
        expect(page.locator(".heat-readout")).to_contain_text("Rank 3 ")
        expect(page.locator(".heat-readout")).to_have_text(re.compile("late|early|not measured"))
        page.keyboard.press("ArrowDown")
        expect(page.locator(".heat-readout")).to_contain_text("Rank 4 ")


def test_it_follows_the_daemon_and_says_when_it_cannot(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        pulse = page.locator("#pulse")
        before = pulse.inner_text()
        expect(pulse).not_to_have_text(before, timeout=30_000)
    context = browser.new_context()
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("main[data-ready]")
    context.set_offline(True)
    expect(page.locator("#pulse")).to_have_text("Not up to date: the daemon does not answer", timeout=30_000)
    context.set_offline(False)
    expect(page.locator("#pulse")).to_contain_text("Looked at", timeout=30_000)
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_nobody_is_kept_out(browser: Browser, url: str, scheme: str, size: tuple[int, int]) -> None:
    incident = accused(url)
    for name, path in (
        ("overview", "/"),
        ("communicator", f"/#/communicator/{incident['comm']}"),
        ("incident", f"/#/incident/{incident['id']}"),
    ):
        with visit(browser, url, path, size, scheme) as page:
            assert barriers(page) == []
            assert labels(page)
            assert overlaps(page) == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways"
            picture = f"page-{name}-{'phone-' * (size == PHONE)}{scheme}.png"
            if PICTURES and picture in DRAWN:
                page.screenshot(path=Path(PICTURES) / picture, scale="css")
