"""The page in a real browser, on the demo: its incident is found, its rank is marked, its evidence opens.

With PICTURES=docs/images it draws the pictures of the documentation.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from page.demo_job import demo_job, get
from page.visit import DESKTOP, PHONE, barriers, follow, visit
from playwright.sync_api import Browser, expect

from sentinel.model.instant import parse_instant

PICTURES = os.environ.get("PICTURES")
DRAWN = (
    "page-overview-light.png",
    "page-communicator-light.png",
    "page-communicator-dark.png",
    "page-incident-dark.png",
    "page-overview-phone-light.png",
)
INCIDENT = ".incidents .incident-link"
COMMUNICATOR = 'a[href^="#/communicator/"]'


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with demo_job(tmp_path_factory.mktemp("demo")) as address:
        yield address


def accused(url: str) -> dict:
    (found,) = get(url, "incidents")["incidents"]
    return found


def test_the_incident_is_found_and_its_evidence_opens(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        row = page.locator('tr[data-job="demo"]')
        expect(row).to_contain_text("slow")
        expect(row).to_contain_text("watching")
        expect(page.locator(".incidents tbody tr")).to_have_count(1)
        follow(page, INCIDENT)
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
        mark = page.locator(".heat-mark")
        expect(mark).to_have_count(1)
        assert mark.get_attribute("data-rank") == "3"
        outline, canvas = page.locator(".heat-outline").bounding_box(), page.locator(".heat-canvas").bounding_box()
        row = (outline["y"] + outline["height"] / 2 - canvas["y"]) / (canvas["height"] / 8)
        assert int(row) == 3
        expect(page.locator(".heat-summary")).to_contain_text("Marked: Rank 3")
        first = page.locator(".ranking tbody tr").first
        assert first.get_attribute("data-rank") == "3"
        expect(first.locator("a")).to_have_text("incident")
        follow(page, ".heat-mark")
        expect(page.locator("h1")).to_contain_text("Rank 3")


def test_the_late_rank_has_the_colour_of_late(browser: Browser, url: str) -> None:
    incident = accused(url)
    started_at = parse_instant(incident["started_at"])
    with visit(browser, url, f"/#/communicator/{incident['comm']}") as page:
        # By rank and column: red, green, blue and alpha. Before the fault ticks of a real job are noise.
        colours = page.evaluate(
            """() => {
              const canvas = document.querySelector(".heat-canvas"), { width, height } = canvas;
              const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
              const at = (place) => [...data.slice(4 * place, 4 * place + 4)];
              return [...Array(height).keys()].map((row) => [...Array(width).keys()].map((x) => at(row * width + x)));
            }"""
        )
        times = get(url, "heatmap", comm=incident["comm"], quantity="lateness")["times"]
        late = sum(time > started_at for time in times)
        redness = [sum(red - blue for red, _, blue, alpha in row[-late:] if alpha == 255) for row in colours]
        assert max(range(len(redness)), key=redness.__getitem__) == 3
        assert any(red > 2 * blue and alpha == 255 for red, _, blue, alpha in colours[3])
        # Where it waits for nobody it is inside for less than the others.
        page.check('input[value="duration"]', force=True)
        page.wait_for_selector('canvas[data-cells^="duration"]')


def test_percentiles_and_channels_come_from_the_store(browser: Browser, url: str) -> None:
    with visit(browser, url, f"/#/communicator/{accused(url)['comm']}") as page:
        durations = page.locator(".curves").filter(has_text="Durations by operation")
        expect(durations.locator("thead")).to_contain_text("P50P95P99")
        expect(durations.locator("tbody")).to_contain_text("AllGather")
        channels = page.locator(".curves").filter(has_text="Bandwidth of a channel")
        expect(channels.locator("tbody")).to_contain_text("MB/s")


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
        expect(page.locator(".heat-readout")).to_contain_text("late")
        page.keyboard.press("ArrowDown")
        expect(page.locator(".heat-readout")).to_contain_text("Rank 4 ")


def test_it_follows_the_daemon_and_says_when_it_cannot(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        pulse = page.locator("#pulse")
        before = pulse.inner_text()
        expect(pulse).not_to_have_text(before, timeout=10_000)
    context = browser.new_context()
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("main[data-ready]")
    context.set_offline(True)
    expect(page.locator("#pulse")).to_have_text("Not up to date: the daemon does not answer", timeout=15_000)
    context.set_offline(False)
    expect(page.locator("#pulse")).to_contain_text("Looked at", timeout=15_000)
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
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways"
            picture = f"page-{name}-{'phone-' * (size == PHONE)}{scheme}.png"
            if PICTURES and picture in DRAWN:
                page.screenshot(path=Path(PICTURES) / picture, scale="css")
