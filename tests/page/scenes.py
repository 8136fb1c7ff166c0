"""Records to show, made by hand."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from servers.incidents import CULPRIT, INCIDENT

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.history.archive import Archive
from sentinel.history.column import Column, RankMeans
from sentinel.history.moment import CommunicatorMoment, Moment
from sentinel.history.past import Past
from sentinel.history.record import Added, Record
from sentinel.history.roster import Place, Roster
from sentinel.history.strip import Span
from sentinel.model.incident import Incident
from sentinel.model.snapshot import DataQuality
from sentinel.page.facts import Facts
from sentinel.page.incidents import IncidentBook
from sentinel.page.store import Store
from sentinel.sink.alert import AlertWriter

NOW = INCIDENT.started_at + 600.0
COMM = CULPRIT.comm
NAMES = {"job": CULPRIT.job, "job_id": CULPRIT.job_id}


def roster(nranks: int = 4, comm: str = COMM, first: int = 0, **more: Any) -> Roster:
    places = {rank: Place(first + rank, f"node{rank // 2}", str(rank % 2)) for rank in range(nranks)}
    return Roster(**{"comm": comm, "comm_name": "dp", "nranks": nranks, "places": places, **NAMES, **more})


def means(late: Sequence[float], ranks: Sequence[int] | None = None) -> RankMeans:
    found = np.array(range(len(late)) if ranks is None else ranks, dtype=np.int32)
    values = np.array(late, dtype=np.float32)
    return RankMeans(found, values, np.float32(0.002) - values)


def column(time: float, late: Sequence[float] = (), state: str = "watching", findings: int = 0) -> Column:
    return Column(time, state, findings, means(late))


def moment(*incidents: Incident, state: str = "watching", ranks: int = 4, **more: Any) -> Moment:
    who = CommunicatorMoment(COMM, "dp", CULPRIT.job, CULPRIT.job_id, 4, ranks, state)
    values = {"judged": True, "communicators": (who,), "quality": DataQuality(), **more}
    return Moment(time=NOW, incidents=incidents, **values)


def facts(fault: str = "") -> Facts:
    return Facts("1.0", "here-1", fault, 30.0, NOW, None, 0, 0, 0, 0)


class Scene:
    """What stands behind a page: four ranks over ten minutes, of which rank 3 is late for the last five."""

    def __init__(self, directory: Path, *incidents: Incident, store: Store | None = None) -> None:
        self.record = Record(Span(), 1 << 30, Counter())
        ticks = [
            (COMM, column(NOW - 30.0 * back, [0.0, 1e-5, -1e-5, 1e-3 if back < 10 else 0.0], findings=int(back < 10)))
            for back in range(20, -1, -1)
        ]
        self.record.restore([roster()], {}, ticks)
        archive = Archive(directory)
        archive.write([Added(COMM, None, [column(NOW - 1200.0, [0.0] * 4)], None)], [roster()], NOW, Span(), 1 << 30)
        archive.close()
        self.past = Past(self.record, directory)
        self.record.moment = moment(*incidents)
        self.book = IncidentBook(self.record, directory)
        self.store = store or Store(PrometheusSettings(url="http://127.0.0.1:9", timeout="1s"))
        self.writer = AlertWriter(AlertmanagerSettings(), PrometheusSettings(), 30.0)
        self.selector = ""
        self.fault = ""

    def facts(self) -> Facts:
        return facts(self.fault)
