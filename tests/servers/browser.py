"""Chromium, driven by Playwright. Needs no network: nothing but the pages under test is loaded."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright
from servers.process import TOOLS, find_program

_NAMES = ("chromium-headless-shell", "chromium", "google-chrome")


def chromium_path() -> str:
    """The one that set-up fetched, or the machine's own. FileNotFoundError says how to get one."""
    fetched = TOOLS / "browser" / "bin" / _NAMES[0]
    return str(fetched) if fetched.exists() else find_program(*_NAMES)


def _environment() -> dict[str, str | float | bool]:
    """Where the locale is POSIX, Chromium claims a language that its own Intl refuses."""
    return {**os.environ, "LC_ALL": "en_US.UTF-8"}


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    with sync_playwright() as playwright:
        # Its sandbox needs rights that containers do not give.
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), chromium_sandbox=False, env=_environment()
        )
        try:
            yield browser
        finally:
            browser.close()
