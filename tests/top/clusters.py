"""What is known of clusters, out of the documents that the daemon's API really gives."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import orjson
from page.scenes import COMM, NOW, column, facts, moment, roster
from servers.incidents import INCIDENT

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.history.moment import CommunicatorMoment
from sentinel.model.context import ContextNote, Effect, Silence
from sentinel.model.incident import Incident
from sentinel.model.snapshot import DataQuality
from sentinel.page.incidents import brief_document, full_document
from sentinel.page.overview import status_document
from sentinel.page.ranking import ranking_document
from sentinel.sink.alert import AlertWriter
from sentinel.top.answers import Incidents, Ranking, Status, Story
from sentinel.top.seen import Seen

URL = "http://127.0.0.1:9848"
AT = 1000.0
EVIL = "[bold red]x[/] \x1b[2J\x1b]0;taken\x07\r\n\t\u202e\u0000\x9b31m 模型 :skull:"


def cluster(
    *incidents: Incident,
    late: Sequence[float] = (0.0, 1e-5, -1e-5, 1e-3),
    communicators: Sequence[CommunicatorMoment] | None = None,
    fault: str = "",
    incidents_fault: str = "",
    quality: DataQuality | None = None,
    names: Mapping[str, object] | None = None,
    state: str = "watching",
) -> Seen:
    """One communicator in which the ranks are that late, in two ticks, and incidents."""
    job = dict(names or {})
    if communicators is None:
        who = CommunicatorMoment(COMM, "dp", INCIDENT.culprit.job, INCIDENT.culprit.job_id, len(late), len(late), state)
        communicators = (replace(who, **{key: value for key, value in job.items() if key != "places"}),)
    seen = moment(*incidents, communicators=communicators, quality=quality or DataQuality())
    ranks = roster(len(late), **job)
    ticks = [column(NOW - 30.0, [0.0] * len(late)), column(NOW, late)]
    writer = AlertWriter(
        AlertmanagerSettings(runbook_url="https://wiki.example/{alertname}"), PrometheusSettings(), 30.0
    )
    return Seen(
        at=AT,
        status=Status.model_validate(sent(status_document(facts(fault), seen, NOW))),
        incidents=Incidents.model_validate(
            sent({"incidents": [brief_document(each) for each in incidents], "fault": incidents_fault})
        ),
        rankings={COMM: Ranking.model_validate(sent({**ranking_document(ranks, ticks, incidents), "fault": ""}))},
        stories={each.id: Story.model_validate(sent(full_document(each, writer, "", NOW))) for each in incidents},
    )


def sent(document: Mapping[str, object]) -> object:
    """As it comes out of a connection."""
    return orjson.loads(orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY))


def hostile() -> Seen:
    """Everything that a job may name would move a cursor, or is markup."""
    culprit = replace(INCIDENT.culprit, job=EVIL, job_id=EVIL, comm_name=EVIL, node=EVIL, gpu=EVIL)
    incident = replace(
        INCIDENT,
        culprit=culprit,
        evidence={EVIL: EVIL, "cells": [{"op": EVIL, EVIL: 1.0}], "list": [EVIL]},
        context=(ContextNote(Effect.NOTE, {"alertname": EVIL}, NOW),),
        silenced_by=(Silence(EVIL, EVIL, EVIL, NOW),),
    )
    names = {"comm_name": EVIL, "job": EVIL, "job_id": EVIL}
    quality = DataQuality(warnings=(EVIL,))
    seen = cluster(incident, names=names, fault=EVIL, incidents_fault=EVIL, quality=quality, state=EVIL)
    ranking = seen.rankings[COMM]
    assert isinstance(ranking, Ranking)
    document = ranking.model_dump()
    for row in document["ranks"]:
        row["node"] = row["gpu"] = EVIL
    return replace(seen, rankings={COMM: Ranking.model_validate(document)})
