# SPDX-License-Identifier: Apache-2.0
"""What the exporter serves: /metrics, /-/healthy and a page for people who land on /."""

from collections.abc import Callable
from typing import Final

from nccl_endpoint.page import HTML, Answer, Site

from nccl_exporter import __version__

NAME: Final = "nccl-exporter"
TEXT_FORMAT: Final = "text/plain; version=0.0.4; charset=utf-8"

_LANDING: Final = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{NAME}</title></head>
<body><h1>{NAME} {__version__}</h1>
<ul><li><a href="/metrics">Metrics</a></li><li><a href="/-/healthy">Health</a></li></ul></body></html>
"""


def site(collect: Callable[[], str]) -> Site:
    """`collect` gives the metrics in the text format."""
    return Site(
        NAME,
        __version__,
        get={
            "/metrics": lambda _: Answer(collect(), TEXT_FORMAT),
            "/-/healthy": lambda _: Answer(f"{NAME} is healthy.\n"),
            "/": lambda _: Answer(_LANDING, HTML),
        },
    )
