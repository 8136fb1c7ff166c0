"""The live screen: what is known is drawn, keys are followed, until somebody quits."""

import os
import time
from typing import Final

from rich.console import Console, ConsoleDimensions
from rich.live import Live

from sentinel.model.quantity import format_seconds
from sentinel.top.client import DaemonClient
from sentinel.top.help import KEYS
from sentinel.top.keyboard import Keyboard
from sentinel.top.keys import Key
from sentinel.top.layout import Drawn, fit
from sentinel.top.pages import page_view, wants_of
from sentinel.top.place import Place, chosen, moved
from sentinel.top.view import View
from sentinel.top.wakeup import Wakeup
from sentinel.top.watcher import Watcher

__all__ = ["show"]

_REDRAW_SECONDS: Final = 1.0  # ages grow


def show(client: DaemonClient, console: Console, keyboard_fd: int, interval_seconds: float) -> None:
    """On the terminal, until q or its end; it is left as it was, whatever happens. In the main thread."""
    with Wakeup() as wakeup, Watcher(client, interval_seconds, wakeup) as watcher:
        screen = _Screen(
            client.url, watcher, console, keyboard_fd, f" Asked again every {format_seconds(interval_seconds)}."
        )
        while True:
            with (
                Keyboard(keyboard_fd, wakeup) as keyboard,
                Live(console=console, screen=True, auto_refresh=False) as live,
            ):
                screen.follow(live, keyboard, wakeup)
            if screen.quit:
                return
            wakeup.suspend()


class _Screen:
    """Where somebody is, also while the process is stopped."""

    def __init__(self, url: str, watcher: Watcher, console: Console, fd: int, again: str) -> None:
        self.quit = False
        self._url = url
        self._watcher = watcher
        self._console = console
        self._fd = fd
        self._again = again
        self._place = Place()

    def follow(self, live: Live, keyboard: Keyboard, wakeup: Wakeup) -> None:
        """Until somebody quits, or wants the process to stop."""
        wakeup.release()
        while not self.quit and not wakeup.take_suspend():
            view, drawn = self._draw()
            live.update(drawn.renderable, refresh=True)
            self._watcher.want(wants_of(self._place.page, drawn.visible))
            try:
                keys = keyboard.wait(_REDRAW_SECONDS)
            except EOFError:  # the terminal is gone
                keys = [Key.QUIT]
            for key in keys:
                self.quit = self.quit or key is Key.QUIT
                page = self._place.page
                self._place = moved(self._place, key, [row.choice for row in view.rows], drawn.page_rows)
                if self._place.page != page:  # the next key means its rows
                    view, drawn = self._draw()
        wakeup.hold()

    def _draw(self) -> tuple[View, Drawn]:
        # Of the terminal itself: rich would believe LINES and COLUMNS, which a shell may have exported long ago.
        width, height = os.get_terminal_size(self._fd)
        self._console.size = size = ConsoleDimensions(width or 80, height or 24)  # a serial line says 0
        place = self._place
        seen, now = self._watcher.seen, time.monotonic()
        view = page_view(place.page, place.order, seen, self._url, now, size.width, self._again)
        choices = [row.choice for row in view.rows]
        return view, fit(view, chosen(place, choices), KEYS, size.width, size.height)
