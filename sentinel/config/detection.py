"""What the detectors can be told. The `[detection]` tables of the configuration file are these models."""

from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

from sentinel.config.detection_drift import DriftSettings
from sentinel.config.detection_imbalance import ImbalanceSettings
from sentinel.config.detection_rank_missing import RankMissingSettings
from sentinel.config.detection_slow_fabric import SlowFabricSettings
from sentinel.config.detection_slow_link import SlowLinkSettings
from sentinel.config.detection_tiers import TierSettings
from sentinel.config.detection_wait_chain import WaitChainSettings
from sentinel.model.duration import Duration
from sentinel.model.incident import Verdict

__all__ = [
    "BaselineSettings",
    "DetectionSettings",
    "JobSettings",
    "LateRankSettings",
    "StalledSettings",
    "TierSettings",
    "VerdictSettings",
]

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
        default=2,
        ge=1,
        description="Ticks for which the evidence has to hold before an incident opens; one more for a single cell.",
    )
    clear_ticks: int = Field(default=3, ge=1, description="Ticks without evidence after which the incident ends.")


class StalledSettings(_Frozen):
    """When a communicator is called stalled."""

    enabled: bool = Field(True, description="Whether this verdict is given at all.")
    stall_after: Duration = Field(
        default=timedelta(seconds=30),
        gt=timedelta(0),
        description=(
            "How long nothing may finish while something is in flight, or nobody launch anything while counts differ."
        ),
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
        default=1, ge=1, description="Operations that a rank needs in a cell for a tick to count."
    )


class VerdictSettings(_Frozen):
    """The thresholds that a job may have of its own."""

    late_rank: LateRankSettings = LateRankSettings()
    stalled: StalledSettings = StalledSettings()
    slow_link: SlowLinkSettings = SlowLinkSettings()
    slow_fabric: SlowFabricSettings = SlowFabricSettings()
    rank_missing: RankMissingSettings = RankMissingSettings()
    drift: DriftSettings = DriftSettings()
    imbalance: ImbalanceSettings = ImbalanceSettings()
    tiers: TierSettings = TierSettings()


class JobSettings(VerdictSettings):
    """One `[[detection.jobs]]`: what it names holds for the jobs whose id matches, instead of what holds for all."""

    job_id: str = Field(min_length=1, description="Job id, or a pattern with *, ? and [...], as in llama-*.")

    def matches(self, job_id: str) -> bool:
        """Whether these hold for that job. Upper and lower case differ."""
        return fnmatchcase(job_id, self.job_id)

    def over(self, settings: VerdictSettings) -> dict[str, BaseModel]:
        """Each section of `settings`, with the keys over it that were named here."""
        return {
            name: getattr(settings, name).model_copy(update=_named(getattr(self, name)))
            for name in VerdictSettings.model_fields
        }


def _named(section: BaseModel) -> dict[str, Any]:
    """What was set, defaults left out."""
    return {name: getattr(section, name) for name in section.model_fields_set}


class DetectionSettings(VerdictSettings):
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
    reopen_within: Duration = Field(
        default=timedelta(minutes=10),
        ge=timedelta(0),
        description=(
            "An incident whose evidence comes back within this time of its end goes on as the same one, and from then "
            "on ends only after this long without evidence. 0s: each time is an incident of its own."
        ),
    )
    jobs: tuple[JobSettings, ...] = Field(
        default=(),
        # A list of tables; as a key it would stand in the way of them.
        json_schema_extra={"written_as": "[[detection.jobs]]"},
        description=(
            'Jobs with thresholds of their own: a table [[detection.jobs]] with job_id = "llama-*" (an id, or a '
            "pattern with *, ? and [...]), then any keys of the sections of verdicts and tiers, as in "
            "[detection.jobs.late_rank] min_cost_ratio = 0.03. The first that matches a job holds for it."
        ),
    )
    wait_chain: WaitChainSettings = WaitChainSettings()
    baseline: BaselineSettings = BaselineSettings()

    def settings_for(self, job_id: str) -> Self:
        """These, with what the first of `jobs` that matches says over them."""
        job = next((each for each in self.jobs if each.matches(job_id)), None)
        return self if job is None else self.model_copy(update=job.over(self))

    def clear_ticks(self, verdict: Verdict) -> int:
        """Ticks without evidence after which an incident ends; a late rank's where it has no setting."""
        section = getattr(self, verdict.value, self.late_rank)
        ticks: int = getattr(section, "clear_ticks", self.late_rank.clear_ticks)
        return ticks
