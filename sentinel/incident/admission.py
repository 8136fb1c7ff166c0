"""Whether a job's own thresholds let a finding count."""

from sentinel.config.detection import DetectionSettings
from sentinel.model.incident import Finding

__all__ = ["is_wanted", "may_open"]


def is_wanted(finding: Finding, job: DetectionSettings) -> bool:
    """Whether the job wants that verdict at all. `job` are the settings for the finding's job."""
    section = getattr(job, finding.culprit.verdict.value, None)
    return bool(getattr(section, "enabled", True))


def may_open(finding: Finding, job: DetectionSettings, everybody: DetectionSettings) -> bool:
    """Whether it costs enough to open an incident in its job.

    The detectors have asked for what holds for everybody: only a job that asks for more can be told less.
    """
    name = finding.culprit.verdict.value
    floor = getattr(getattr(job, name, None), "min_cost_ratio", 0.0)
    usual = getattr(getattr(everybody, name, None), "min_cost_ratio", 0.0)
    return bool(floor <= usual or finding.cost_ratio >= floor)
