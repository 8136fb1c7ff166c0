"""A visit to the status page with a browser that forgives nothing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Response

_AXE = Path(__file__).parent / "axe" / "axe.min.js"
_SERIOUS = ("serious", "critical")
_READY = "main[data-ready]"
DESKTOP, PHONE = (1280, 900), (390, 844)

# What is written in a picture leaves no trace in the document: every text is noted with its place.
_NOTE_TEXTS = """
const pen = CanvasRenderingContext2D.prototype;
const { clearRect, fillText } = pen;
pen.clearRect = function (...box) {
  this.canvas.texts = [];
  clearRect.apply(this, box);
};
pen.fillText = function (text, x, y, ...more) {
  const { width, actualBoundingBoxAscent: up, actualBoundingBoxDescent: down } = this.measureText(text);
  const left = x - ({ center: width / 2, right: width, end: width }[this.textAlign] ?? 0);
  (this.canvas.texts ??= []).push({ text, left, right: left + width, top: y - up, bottom: y + down });
  fillText.call(this, text, x, y, ...more);
};
"""
_LABELS = """() => [
  ...[...document.querySelectorAll("canvas")].map((canvas) => canvas.texts ?? []),
  ...[...document.querySelectorAll(".heat-axis, .timeline-axis")].map((axis) => [...axis.children].map((each) => {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    return { text: each.textContent, left, right, top, bottom };
  })),
].map((texts) => texts.filter((each) => each.text && each.right > each.left))"""


@contextmanager
def visit(
    browser: Browser, url: str, path: str = "/", size: tuple[int, int] = DESKTOP, scheme: Any = "light"
) -> Iterator[Page]:
    """A page that is up to date. At the end: no error, no word on the console, no request to anybody else."""
    complaints: list[str] = []

    def look(response: Response) -> None:
        if not response.url.startswith(url):
            complaints.append(f"asked {response.url}")
        elif response.status >= 400:
            complaints.append(f"{response.status} {response.url}")

    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    context.add_init_script(_NOTE_TEXTS)
    page = context.new_page()
    page.on("console", lambda message: complaints.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("requestfailed", lambda request: complaints.append(f"failed: {request.url} {request.failure}"))
    page.on("response", look)
    try:
        page.goto(url + path)
        page.wait_for_selector(_READY)
        yield page
        assert complaints == [], complaints
    finally:
        context.close()


def follow(page: Page, selector: str) -> None:
    """Click a link to another view, and wait until that is up to date."""
    page.click(selector)
    page.wait_for_selector(_READY)


def barriers(page: Page) -> list[str]:
    """What axe finds that keeps people from using the page."""
    page.evaluate(_AXE.read_text())
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")
    return [
        json.dumps([each["id"], each["help"], [node["html"][:200] for node in each["nodes"]][:5]])
        for each in found["violations"]
        if each["impact"] in _SERIOUS
    ]


def labels(page: Page) -> list[list[dict[str, Any]]]:
    """What is written on the axes of each picture: `text`, and its box."""
    found: list[list[dict[str, Any]]] = page.evaluate(_LABELS)
    return [texts for texts in found if texts]


def overlaps(page: Page) -> list[tuple[str, str]]:
    """Labels of pictures that lie on each other."""
    return [
        (one["text"], other["text"])
        for texts in labels(page)
        for one, other in combinations(texts, 2)
        if min(one["right"], other["right"]) > max(one["left"], other["left"])
        and min(one["bottom"], other["bottom"]) > max(one["top"], other["top"])
    ]
