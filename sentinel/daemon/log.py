"""The log: stderr, JSON lines unless a person watches."""

import contextlib
import logging
import sys
from typing import TextIO

import structlog

from sentinel.config.log import LogFormat, LogSettings

__all__ = ["configure_log"]


class _Unfailing:
    """A stream on whose writer nothing depends: a full disk, or a reader that is gone, ends no tick."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()


def configure_log(settings: LogSettings) -> None:
    """Send structlog's messages, and those of libraries, to stderr."""
    as_text = settings.format is LogFormat.TEXT or (settings.format is LogFormat.AUTO and sys.stderr.isatty())
    level = logging.getLevelNamesMapping()[settings.level.upper()]
    shared: list[structlog.typing.Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.UnicodeDecoder(),
    ]
    if as_text:
        # Not rich's: it shows the variables of each frame, and among them are tokens and passwords.
        plain = structlog.dev.plain_traceback
        shared.append(structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain))
    else:
        tracebacks = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        shared += [structlog.processors.ExceptionRenderer(tracebacks), structlog.processors.JSONRenderer()]
    structlog.configure(
        processors=shared,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(_Unfailing(sys.stderr)),  # type: ignore[arg-type]
        cache_logger_on_first_use=False,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared[:3],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *shared[3:]],
    )
    handler = logging.StreamHandler(_Unfailing(sys.stderr))
    handler.setFormatter(formatter)
    # Libraries tell of their routine at info (every run of a job, every request): that is our debug.
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)
