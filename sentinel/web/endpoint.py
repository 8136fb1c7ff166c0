"""The web server of the daemon, in threads of its own."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self

import structlog
from nccl_endpoint.access import Access
from nccl_endpoint.address import Address
from nccl_endpoint.errors import EndpointError
from nccl_endpoint.limits import Limits
from nccl_endpoint.page import Answer, Page, Request, Site, not_found
from nccl_endpoint.server import Server

from sentinel import __version__
from sentinel.config.web import WebSettings
from sentinel.errors import ConfigError
from sentinel.web.exposition import TEXT_FORMAT
from sentinel.web.turn import Turn
from sentinel.web.webhook import WEBHOOK_PATH, Webhook

__all__ = ["Endpoint", "Pages"]

_log = structlog.get_logger()

_NAME: Final = "nccl-sentinel"
_LISTEN_HINT: Final = "Does another daemon run? Else choose another web.listen_address; port 0 takes a free one."


@dataclass(frozen=True)
class Pages:
    """What is served. `metrics` gives the text format, `fault` why the daemon is not ready (empty: it is).

    `more` are further pages by path; `missing` answers where there is none.
    """

    metrics: Callable[[], str]
    fault: Callable[[], str]
    webhook: Webhook
    more: Mapping[str, Page] = field(default_factory=dict)
    missing: Page = not_found


class Endpoint:
    """Listens from the beginning, serves as a context manager. ConfigError when it cannot."""

    def __init__(self, settings: WebSettings, pages: Pages) -> None:
        self._site = _site(pages)
        self._settings = settings
        self._running = _Running(settings, self._site)

    @property
    def address(self) -> Address:
        """Where it listens, with the port that it has."""
        return self._running.server.address

    @property
    def access(self) -> Access:
        """The web configuration in force."""
        return self._running.server.access

    def __enter__(self) -> Self:
        self._running.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.stop()

    def follow(self, settings: WebSettings) -> None:
        """Serve as another configuration says; on ConfigError all stays as it was."""
        if settings == self._settings:
            return
        if settings.listen_address == self._settings.listen_address:
            access = self.access
            if settings.config_file != self._settings.config_file:
                access = _access(settings)
            self._running.server.configure(access, _limits(settings))
        else:
            successor = _Running(settings, self._site)
            successor.start()
            self._running.stop()
            self._running = successor
        self._settings = settings


class _Running:
    """One server and its thread."""

    def __init__(self, settings: WebSettings, site: Site) -> None:
        try:
            self.server = Server(Address.parse(settings.listen_address), site, _access(settings), _limits(settings))
        except EndpointError as error:
            raise ConfigError(error.what, where=error.where, why=error.why, hint=_LISTEN_HINT) from error
        self._thread = threading.Thread(target=self.server.serve_forever, name="web", daemon=True)

    def start(self) -> None:
        self._thread.start()
        config = self.server.access.current()
        _log.info("serving", address=str(self.server.address), tls=config.tls is not None)
        if self.server.address.is_loopback:
            return
        if config.users is None and config.tls is None:
            _log.warning("everybody in the network can notify the daemon and see its pages: set web.config_file")
        elif config.tls is None:
            _log.warning("passwords cross the network in clear text: add tls_server_config to web.config_file")

    def stop(self) -> None:
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()
        self.server.hang_up()


def _access(settings: WebSettings) -> Access:
    try:
        return Access(settings.config_file)
    except EndpointError as error:
        raise ConfigError(error.what, where=error.where, why=error.why, hint=error.hint) from error


def _limits(settings: WebSettings) -> Limits:
    return Limits(body_bytes=settings.max_webhook_body, requests_per_second=settings.max_requests_per_second)


def _site(pages: Pages) -> Site:
    # Apart: whoever floods the one page does not keep others from the other.
    scrapes, notifications = Turn(), Turn()

    def metrics(_: Request) -> Answer:
        return Answer(scrapes.take(pages.metrics), TEXT_FORMAT)

    def ready(_: Request) -> Answer:
        fault = pages.fault()
        return Answer(f"{fault}\n", status=HTTPStatus.SERVICE_UNAVAILABLE) if fault else Answer("ready\n")

    def notify(request: Request) -> Answer:
        return notifications.take(lambda: pages.webhook.answer(request))

    return Site(
        _NAME,
        __version__,
        get={**pages.more, "/metrics": metrics, "/-/healthy": lambda _: Answer("healthy\n"), "/-/ready": ready},
        post={WEBHOOK_PATH: notify},
        note=pages.webhook.note,
        missing=pages.missing,
    )
