"""Moved to sentinel.config.detection; this module goes away once nothing imports it."""

from sentinel.config.detection import (
    BaselineSettings,
    DetectionSettings,
    LateRankSettings,
    StalledSettings,
    TierSettings,
)

__all__ = ["BaselineSettings", "DetectionSettings", "LateRankSettings", "StalledSettings", "TierSettings"]
