# SPDX-License-Identifier: Apache-2.0
"""What a server answers with, by path and method."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

__all__ = ["HTML", "PLAIN", "Answer", "Page", "Request", "Site", "not_found"]

PLAIN: Final = "text/plain; charset=utf-8"
HTML: Final = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Request:
    """`content_type` is without parameters, in lower case; `body` is empty unless it was a POST.

    `query` is what follows the path, as it was sent.
    """

    content_type: str
    body: bytes
    query: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """A body with its status. `gzipped` is the same text where that has been made already."""

    text: str
    content_type: str = PLAIN
    status: HTTPStatus = HTTPStatus.OK
    headers: tuple[tuple[str, str], ...] = ()
    gzipped: bytes = b""


Page = Callable[[Request], Answer]


def _no_note(_path: str, _status: int) -> None:
    pass


def not_found(_: Request) -> Answer:
    """There is no such page."""
    return Answer("404 Not Found\n", status=HTTPStatus.NOT_FOUND)


@dataclass(frozen=True)
class Site:
    """The pages of a program; `get` is asked for HEAD as well. `name` and `version` are for the Server header.

    `missing` answers where there is no such page. `note` is told path and status of every answer, refusals included,
    by many threads.
    """

    name: str
    version: str
    get: Mapping[str, Page]
    post: Mapping[str, Page] = field(default_factory=dict)
    note: Callable[[str, int], None] = _no_note
    missing: Page = not_found

    def methods(self, path: str) -> tuple[str, ...]:
        """What may be done with a path; nothing where there is no such page."""
        return ("GET", "HEAD") * (path in self.get) + ("POST",) * (path in self.post)
