"""The page in a real browser with a day of 1,024 ranks."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from page.large_job import COMM, LATE_RANK, RANKS, large_job
from page.visit import barriers, labels, overlaps, visit
from playwright.sync_api import Browser, Page, expect

PICTURES = os.environ.get("PICTURES")
MOST_SECONDS = 1.0
TRIES = 3  # the machine may be busy with other tests

# Until the browser has drawn what it was asked for.
SWITCH = """async (value) => {
  const canvas = document.querySelector(".heat-canvas");
  const start = performance.now();
  const drawn = new Promise((done) => {
    new MutationObserver(done).observe(canvas, { attributes: true, attributeFilter: ["data-cells"] });
  });
  document.querySelector(`input[value="${value}"]`).click();
  await drawn;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return (performance.now() - start) / 1000;
}"""
SCROLL = """async () => {
  const field = document.querySelector(".heat-scroll");
  const positions = [];
  for (let step = 0; step < 60; step += 1) {
    field.scrollTop = step * 50;
    await new Promise(requestAnimationFrame);
    positions.push(field.scrollTop);
  }
  return positions;
}"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with large_job(tmp_path_factory.mktemp("large")) as address:
        yield address


def cells(page: Page) -> tuple[str, int, int]:
    quantity, shape = page.locator(".heat-canvas").get_attribute("data-cells").split(" ")
    rows, columns = shape.split("x")
    return quantity, int(rows), int(columns)


def test_a_day_of_1024_ranks_is_there_within_a_second(
    browser: Browser, url: str, record_property: Callable[[str, object], None]
) -> None:
    seconds = []
    for _ in range(TRIES):
        with visit(browser, url, f"/#/communicator/{COMM}") as page:
            seconds.append(page.evaluate(SWITCH, "bins"))
            quantity, rows, columns = cells(page)
            assert (quantity, rows) == ("lateness", RANKS)
            assert columns >= 280
        if seconds[-1] <= MOST_SECONDS:
            break
    record_property("seconds", min(seconds))
    assert min(seconds) <= MOST_SECONDS


def test_it_scrolls_and_the_late_rank_is_in_sight_from_the_start(browser: Browser, url: str) -> None:
    with visit(browser, url, f"/#/communicator/{COMM}") as page:
        page.evaluate(SWITCH, "bins")
        mark = page.locator(f'.heat-mark[data-rank="{LATE_RANK}"]')
        expect(mark).to_be_in_viewport()
        positions = page.evaluate(SCROLL)
        assert positions == sorted(positions)
        assert positions[-1] > 2000
        # The row of the late rank is dark for the last hours.
        dark = page.evaluate(
            """(row) => {
              const canvas = document.querySelector(".heat-canvas");
              const pixels = canvas.getContext("2d").getImageData(0, row, canvas.width, 1).data;
              return [...Array(canvas.width).keys()].filter((at) => pixels[4 * at] > 2 * pixels[4 * at + 2]).length;
            }""",
            LATE_RANK,
        )
        assert dark >= 30


def test_the_ranking_finds_it_and_others(browser: Browser, url: str) -> None:
    with visit(browser, url, f"/#/communicator/{COMM}") as page:
        first = page.locator(".ranking tbody tr").first
        assert first.get_attribute("data-rank") == str(LATE_RANK)
        page.fill("#rank-filter", "1000")
        expect(page.locator(".ranking tbody tr")).to_have_count(1)
        page.fill("#rank-filter", "")
        page.click("text=Show 1,004 more ranks")
        expect(page.locator(".ranking tbody tr")).to_have_count(RANKS)
        page.click("button.order:has-text('Rank')")
        assert page.locator(".ranking tbody tr").first.get_attribute("data-rank") == "0"
        expect(page.locator('th[aria-sort="ascending"]')).to_contain_text("Rank")


def test_nobody_is_kept_out(browser: Browser, url: str) -> None:
    with visit(browser, url, f"/#/communicator/{COMM}") as page:
        page.evaluate(SWITCH, "bins")
        assert barriers(page) == []
        assert labels(page)
        assert overlaps(page) == []
        if PICTURES:
            page.screenshot(path=Path(PICTURES) / "page-1024-ranks-light.png", scale="css")
