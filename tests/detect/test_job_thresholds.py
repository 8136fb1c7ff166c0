import numpy as np

from sentinel.config.detection import DetectionSettings
from sentinel.detect.job_thresholds import JobThresholds
from sentinel.measure.membership import Communicator, Membership, Role

MEMBERSHIP = Membership(
    {
        code: Communicator(code, str(code), job, Role(job, "", 8, 1, "0-7"), {})
        for code, job in ((3, "llama-7b"), (5, "other"), (9, "llama-70b"))
    }
)
COMM = np.array([9, 3, 5, 3, 4], dtype=np.int32)


def test_each_row_has_its_job_s_threshold() -> None:
    jobs = [
        {"job_id": "llama-70b", "late_rank": {"min_cost_ratio": 0.2, "min_lateness": "1ms"}},
        {"job_id": "llama-*", "late_rank": {"min_cost_ratio": 0.1}},
    ]
    thresholds = JobThresholds(DetectionSettings.model_validate({"jobs": jobs}))
    costs = thresholds.of(COMM, MEMBERSHIP, lambda job: job.late_rank.min_cost_ratio)
    assert costs.tolist() == [0.2, 0.1, 0.01, 0.1, 0.01]  # the last is of a communicator that is not there
    floors = thresholds.of(COMM, MEMBERSHIP, lambda job: job.late_rank.min_lateness.total_seconds())
    assert floors.tolist() == [1e-3, 20e-6, 20e-6, 20e-6, 20e-6]
    assert thresholds.of(COMM[:0], MEMBERSHIP, lambda job: job.late_rank.min_cost_ratio).tolist() == []


def test_without_jobs_of_their_own_all_are_the_same() -> None:
    thresholds = JobThresholds(DetectionSettings())
    assert thresholds.of(COMM, MEMBERSHIP, lambda job: job.late_rank.min_cost_ratio).tolist() == [0.01] * 5
