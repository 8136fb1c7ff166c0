"""A node, a GPU, a job: where something is said to be going on."""

from dataclasses import dataclass
from functools import reduce

import numpy as np
import numpy.typing as npt

from sentinel.model.incident import Culprit
from sentinel.model.snapshot import CommunicatorTable
from sentinel.model.vocabulary import Vocabulary

__all__ = ["Freeze", "Place"]


@dataclass(frozen=True)
class Place:
    """What is named has to agree; what is empty is everywhere.

    `gpu` is a GPU's number on its node, `gpu_uuid` names it in the world.
    """

    node: str = ""
    gpu: str = ""
    gpu_uuid: str = ""
    job_id: str = ""

    @property
    def is_somewhere(self) -> bool:
        """Whether it names anything by itself: a GPU's number does not, nor which one of a job's it is."""
        return bool(self.node or self.gpu_uuid or (self.job_id and not self.gpu))

    def names(self, culprit: Culprit, gpu_uuid: str = "") -> bool:
        """Whether it is here that the culprit is. `gpu_uuid` is the culprit's, where it is known.

        False where that cannot be told, as for a culprit without a node.
        """
        if not self.is_somewhere or (self.job_id and self.job_id != culprit.job_id):
            return False
        if self.node and self.node != culprit.node:
            return False
        if self.gpu_uuid and gpu_uuid:
            return self.gpu_uuid == gpu_uuid
        if self.gpu_uuid and not (self.node and self.gpu):
            return False
        return not self.gpu or self.gpu == culprit.gpu

    def rows(self, table: CommunicatorTable, vocabulary: Vocabulary) -> npt.NDArray[np.bool_]:
        """Which ranks are here. Shape (n,)."""
        nowhere = np.zeros(len(table.comm), dtype=bool)
        if not self.is_somewhere:
            return nowhere
        named = [("gpu_uuid", self.gpu_uuid)] if self.gpu_uuid else [("gpu", self.gpu)]
        masks = []
        for name, text in (("node", self.node), ("job_id", self.job_id), *named):
            if text:
                code = vocabulary.find(text)
                masks.append(nowhere if code is None else getattr(table, name) == code)
        return reduce(np.logical_and, masks)


@dataclass(frozen=True)
class Freeze:
    """Nothing is to be learnt at that place in that time, Unix seconds."""

    place: Place
    started_at: float
    ended_at: float
