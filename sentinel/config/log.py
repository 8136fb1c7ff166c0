"""The `[log]` section."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["LogFormat", "LogLevel", "LogSettings"]


class LogLevel(StrEnum):
    """The least severe message that is written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """How a message is written."""

    AUTO = "auto"
    JSON = "json"
    TEXT = "text"


class LogSettings(BaseModel):
    """What the daemon writes to stderr."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    level: LogLevel = Field(default=LogLevel.INFO, description="Least severe message that is written.")
    format: LogFormat = Field(default=LogFormat.AUTO, description="auto is text on a terminal, JSON lines elsewhere.")
