"""Thresholds that jobs may have of their own, as arrays."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sentinel.config.detection import DetectionSettings
from sentinel.measure.groups import group_rows
from sentinel.measure.membership import Membership

__all__ = ["JobThresholds"]


class JobThresholds:
    """Looks a threshold up for each row of a table, by the job of its communicator; each job is matched once."""

    def __init__(self, settings: DetectionSettings) -> None:
        self._settings = settings
        self._jobs: dict[str, DetectionSettings] = {}
        self._membership = Membership({})

    def of_job(self, job_id: str) -> DetectionSettings:
        """The settings of one job."""
        if not self._settings.jobs:
            return self._settings
        if job_id not in self._jobs:
            self._jobs[job_id] = self._settings.settings_for(job_id)
        return self._jobs[job_id]

    def of(
        self, comm: npt.NDArray[np.integer], membership: Membership, pick: Callable[[DetectionSettings], float]
    ) -> npt.NDArray[np.float64]:
        """What `pick` takes out of the settings of each row's job. comm: codes, shape (n,); returns shape (n,).

        A communicator that is not there has what holds for everybody.
        """
        if not self._settings.jobs:
            return np.full(len(comm), pick(self._settings))
        if membership is not self._membership:
            there = {communicator.role.job_id for communicator in membership.communicators.values()}
            self._jobs = {job_id: each for job_id, each in self._jobs.items() if job_id in there}
            self._membership = membership
        number, first = group_rows(comm)
        jobs = (membership.communicators.get(code) for code in comm[first].tolist())
        values = [pick(self.of_job(each.role.job_id) if each else self._settings) for each in jobs]
        of_row: npt.NDArray[np.float64] = np.array(values, dtype=np.float64)[number]
        return of_row
