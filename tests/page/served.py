"""A scene behind a real endpoint."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from page.scenes import NOW, Scene

from sentinel.config.web import WebSettings
from sentinel.page.answer import missing_page
from sentinel.page.site import StatusPage
from sentinel.web.context import Context
from sentinel.web.endpoint import Endpoint, Pages
from sentinel.web.turn import Turn
from sentinel.web.webhook import Webhook


@contextmanager
def serving(scene: Scene, **values: Any) -> Iterator[str]:
    """Its address."""
    pages = StatusPage(scene, lambda: NOW, Turn()).pages()
    webhook = Webhook({}, set(), Context(WebSettings()), lambda: NOW)
    settings = WebSettings.model_validate(
        {"listen_address": "127.0.0.1:0", "max_requests_per_second": 1000.0, **values}
    )
    with Endpoint(settings, Pages(lambda: "", lambda: "", webhook, pages, missing_page)) as endpoint:
        yield f"http://{endpoint.address}"
