"""What the detectors can be told. The `[detection]` tables of the configuration file are these models."""

from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from sentinel.model.duration import Duration

__all__ = ["BaselineSettings", "DetectionSettings", "LateRankSettings", "StalledSettings", "TierSettings"]

Ratio = Annotated[float, Field(ge=0.0, le=1.0)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LateRankSettings(_Frozen):
    """When a rank is called late. Significance and an effect floor both have to be met."""

    enabled: bool = Field(True, description="Whether this verdict is given at all.")
    min_cost_ratio: Ratio = Field(
        default=0.01, description="Effect floor: share of the job's time that peers spend waiting for the rank."
    )
    min_lateness: Duration = Field(
        default=timedelta(microseconds=20),
        description="Effect floor: how much later than its peers it arrives, per operation.",
    )
    noise_floor_ratio: Ratio = Field(
        default=0.02, description="Spread of lateness that is always assumed, as a share of the operation's duration."
    )
    peers_only_sigmas: float = Field(
        default=6.0,
        gt=0.0,
        description=(
            "How far a rank must stand out from its peers while its own history is not known yet, in "
            "robust standard deviations."
        ),
    )
    min_ticks: int = Field(
        default=2, ge=1, description="Ticks for which the evidence has to hold before an incident opens."
    )
    clear_ticks: int = Field(default=3, ge=1, description="Ticks without evidence after which the incident ends.")


class StalledSettings(_Frozen):
    """When a communicator is called stalled."""

    enabled: bool = Field(True, description="Whether this verdict is given at all.")
    stall_after: Duration = Field(
        default=timedelta(seconds=30),
        gt=timedelta(0),
        description="How long nothing may finish while something is in flight.",
    )
    clear_ticks: int = Field(default=1, ge=1, description="Ticks with progress after which the incident ends.")


class BaselineSettings(_Frozen):
    """How much history a baseline needs."""

    warm_up: Duration = Field(
        default=timedelta(seconds=60), description="A new communicator's first seconds, which are not judged."
    )
    warm_up_operations: int = Field(default=50, ge=0, description="… or its first operations, whichever is over first.")
    min_ticks: int = Field(
        default=5, ge=2, description="Ticks with data that a cell needs before its own history is used."
    )
    min_operations: int = Field(
        default=5, ge=1, description="Operations that a rank needs in a cell for a tick to count."
    )


class TierSettings(_Frozen):
    """How a verdict's cost and persistence become a tier. A stall is always P0."""

    p1_cost_ratio: Ratio = Field(
        default=0.05, description="A late rank that costs at least this share of the job's time is P1, below it P2."
    )


class DetectionSettings(_Frozen):
    """All thresholds."""

    false_alarms_per_month: float = Field(
        default=1.0,
        gt=0.0,
        description=(
            "False incidents that the whole fleet may raise in 30 days; the thresholds of the tests follow from it."
        ),
    )
    gone_after: Duration = Field(
        default=timedelta(minutes=15),
        description="An incident whose communicator's series are gone ends after this long: the job is over.",
    )
    late_rank: LateRankSettings = LateRankSettings()
    stalled: StalledSettings = StalledSettings()
    baseline: BaselineSettings = BaselineSettings()
    tiers: TierSettings = TierSettings()
