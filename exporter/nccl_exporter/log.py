# SPDX-License-Identifier: Apache-2.0
"""Log lines as Prometheus' own programs write them: ts=… level=… msg="…"."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Final

_LEVELS: Final = {"WARNING": "warn", "CRITICAL": "error"}


class LogfmtFormatter(logging.Formatter):
    """One line for each record, whatever is in it; a traceback becomes `err`."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        level = _LEVELS.get(record.levelname, record.levelname.lower())
        line = f"ts={at} level={level} msg={_quoted(record.getMessage())}"
        if record.exc_info:
            line += f" err={_quoted(self.formatException(record.exc_info))}"
        return line


def _quoted(text: str) -> str:
    # JSON escapes what could end the line or the quotes; other letters stay readable.
    return json.dumps(text, ensure_ascii=False)


def configure(level: str) -> None:
    """Write records of this level (debug, info, warning, error) and above to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogfmtFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
