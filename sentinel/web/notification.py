"""What Alertmanager's webhook says (payload version 4): untrusted, so checked as a whole before anything is taken."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import orjson
from pydantic import FailFast, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # the standard one gives pydantic too little before Python 3.12

from sentinel.model.instant import parse_instant

__all__ = ["NotificationError", "NotifiedAlert", "read_notification"]


class NotificationError(ValueError):
    """Why a body is no notification: in words of ours and places of the format, never in the body's own text."""


@dataclass(frozen=True)
class NotifiedAlert:
    """One alert. `starts_at` is in Unix seconds."""

    firing: bool
    labels: dict[str, str]
    starts_at: float


class _Alert(TypedDict):
    status: Literal["firing", "resolved"]
    labels: dict[str, Any]  # of strings: checked below, where the first that is none ends it
    startsAt: str


class _Notification(TypedDict):
    version: Literal["4"]
    alerts: Annotated[list[_Alert], FailFast()]


_NOTIFICATION = TypeAdapter(_Notification)
_PLACES = frozenset(_Alert.__annotations__) | frozenset(_Notification.__annotations__)


def read_notification(body: bytes) -> list[NotifiedAlert]:
    """Its alerts, in their order. NotificationError when it is anything else."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise NotificationError("the body is not JSON") from None
    try:
        notification = _NOTIFICATION.validate_python(document, strict=True)
    except ValidationError as error:
        raise NotificationError(_reason(error)) from None
    return [_alert(number, alert) for number, alert in enumerate(notification["alerts"])]


def _alert(number: int, alert: _Alert) -> NotifiedAlert:
    try:
        starts_at = parse_instant(alert["startsAt"])
    except (ValueError, OverflowError):
        raise NotificationError(f"alerts[{number}].startsAt: expected a time as in 2026-11-29T19:36:00Z") from None
    if not all(isinstance(value, str) for value in alert["labels"].values()):
        raise NotificationError(f"alerts[{number}].labels: expected strings")
    return NotifiedAlert(alert["status"] == "firing", alert["labels"], starts_at)


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{_place(first['loc'])}: {first['msg'][:1].lower()}{first['msg'][1:]}"


def _place(location: tuple[Any, ...]) -> str:
    """`alerts[3].labels`; a label's name is the sender's text, and left out."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part in _PLACES:
            text += f".{part}"
        else:
            break
    return text.lstrip(".") or "the notification"
