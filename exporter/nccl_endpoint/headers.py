# SPDX-License-Identifier: Apache-2.0
"""Section `http_server_config`: headers of every answer."""

import re
from typing import Final

from nccl_endpoint.document import Section

KEYS: Final = ("http2", "headers")
# The headers of the format, with their values where only some make sense.
HEADERS: Final = {
    "Content-Security-Policy": (),
    "X-Frame-Options": ("deny", "sameorigin"),
    "X-Content-Type-Options": ("nosniff",),
    "X-XSS-Protection": (),
    "Strict-Transport-Security": (),
}
_VALUE: Final = re.compile(r"[\x20-\x7e\t]*")


def read(section: Section) -> dict[str, str]:
    """Name and value of each header; raises WebConfigError."""
    if section.boolean("http2", False):
        raise section.refused("http2", "this program speaks HTTP/1.1 only", "Leave it out: clients agree on HTTP/1.1")
    inside = section.section("headers", tuple(HEADERS))
    found: dict[str, str] = {}
    for name, value in inside.items():
        allowed = HEADERS[name]
        if value and allowed and value not in allowed:
            raise inside.refused(name, f"{value!r} is not one of the values allowed", f"Allowed: {', '.join(allowed)}")
        if not _VALUE.fullmatch(value):
            raise inside.refused(name, "a header has printable ASCII characters only")
        if value:
            found[name] = value
    return found
