"""Answers of the page: JSON, errors, and the headers that keep a browser from anything else."""

import gzip
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

import orjson
from nccl_endpoint.page import Answer, Page, Request

from sentinel.errors import SentinelError
from sentinel.page.question import BadQuestionError, Question

__all__ = ["JSON", "SECURITY_HEADERS", "UnknownError", "api_page", "json_answer", "missing_page"]

JSON: Final = "application/json"
# Everything comes from the daemon itself, and nothing of it is written into the markup.
SECURITY_HEADERS: Final = (
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "deny"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)
_HEADERS: Final = (*SECURITY_HEADERS, ("Cache-Control", "no-store"))
_GZIP_FROM_BYTES: Final = 1024


class UnknownError(LookupError):
    """What is asked about is not there."""


def json_answer(document: Mapping[str, Any], status: HTTPStatus = HTTPStatus.OK) -> Answer:
    """The document; what is not a number is null."""
    body = orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY)
    # Here, where it is bounded how much of the time answers take.
    gzipped = gzip.compress(body, compresslevel=1) if len(body) > _GZIP_FROM_BYTES else b""
    return Answer(body.decode(), JSON, status, _HEADERS, gzipped)


def api_page(work: Callable[[Question], Answer]) -> Page:
    """A page of the API: what cannot be answered is said with its reason, never with where the daemon asked for it."""

    def page(request: Request) -> Answer:
        try:
            return work(Question(request.query))
        except BadQuestionError as error:
            return _error(str(error), HTTPStatus.BAD_REQUEST)
        except UnknownError as error:
            return _error(str(error), HTTPStatus.NOT_FOUND)
        except SentinelError as error:
            return _error(f"{error.what}: {error.why}", HTTPStatus.BAD_GATEWAY)

    return page


def missing_page(_: Request) -> Answer:
    """What is said of a path that is none."""
    return _error("there is no such page", HTTPStatus.NOT_FOUND)


def _error(why: str, status: HTTPStatus) -> Answer:
    return json_answer({"error": why}, status)
