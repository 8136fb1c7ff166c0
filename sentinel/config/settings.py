"""The whole configuration."""

from typing import ClassVar

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.context import ContextSettings
from sentinel.config.detection import DetectionSettings
from sentinel.config.dialect import without_refused
from sentinel.config.history import HistorySettings
from sentinel.config.log import LogSettings
from sentinel.config.page import PageSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.config.schedule import ScheduleSettings
from sentinel.config.state import StateSettings
from sentinel.config.web import WebSettings

__all__ = ["Settings"]


class Settings(BaseSettings):
    """Every section. Use `sentinel.config.loader.load`, which reads file and environment and explains faults."""

    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(frozen=True, extra="forbid")

    prometheus: PrometheusSettings = Field(default=PrometheusSettings())
    alertmanager: AlertmanagerSettings = Field(default=AlertmanagerSettings())
    schedule: ScheduleSettings = Field(default=ScheduleSettings())
    # Validated also where the file says nothing of it: what is refused follows from the dialect.
    detection: DetectionSettings = Field(default=DetectionSettings(), validate_default=True)
    baseline: HistorySettings = Field(default=HistorySettings())
    state: StateSettings = Field(default=StateSettings())
    web: WebSettings = Field(default=WebSettings())
    context: ContextSettings = Field(default=ContextSettings())
    page: PageSettings = Field(default=PageSettings())
    log: LogSettings = Field(default=LogSettings())

    @field_validator("detection")
    @classmethod
    def _bearable(cls, detection: DetectionSettings, known: ValidationInfo) -> DetectionSettings:
        prometheus = known.data.get("prometheus")  # absent where it has faults of its own
        return without_refused(detection, prometheus.dialect) if prometheus else detection

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 (pydantic-settings passes all by name)
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what it is given: the default would take a variable that happens to be called STATE or LOG."""
        return (init_settings,)
