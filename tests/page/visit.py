"""A visit to the status page with a browser that forgives nothing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, Response

_AXE = Path(__file__).parent / "axe" / "axe.min.js"
_SERIOUS = ("serious", "critical")
_READY = "main[data-ready]"
DESKTOP, PHONE = (1280, 900), (390, 844)


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
