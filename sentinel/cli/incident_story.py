"""An incident told in a screen of text."""

from collections.abc import Iterator, Mapping
from typing import Any

from sentinel.cli.evidence_text import evidence_lines, named_value, table_lines
from sentinel.cli.plain_text import plain
from sentinel.config.settings import Settings
from sentinel.daemon.instants import Instants
from sentinel.model.duration import format_duration
from sentinel.model.incident import Incident, cost_basis
from sentinel.model.instant import format_instant
from sentinel.model.place_rank import known_ranks
from sentinel.model.quantity import format_seconds
from sentinel.sink.alert import AlertWriter, summarize
from sentinel.sink.graph import graph_query

__all__ = ["incident_story"]

_MARGIN = 7


def incident_story(incident: Incident, settings: Settings, now: float) -> Iterator[str]:
    """Line by line: who, since when, what it costs, which test spoke, the cells, what else is known, who is told.

    `now`: Unix seconds. Whatever the evidence holds is shown, keys that nobody here knows of as a list.
    """
    evidence = dict(incident.evidence)
    yield plain(summarize(incident))
    yield ""
    yield from _section("who", _who(incident, evidence))
    yield from _section("when", _when(incident, now))
    yield from _section("cost", _cost(incident, evidence))
    yield from _section("test", _test(evidence))
    cells = evidence.pop("cells", None)
    if isinstance(cells, list) and cells and all(isinstance(cell, Mapping) for cell in cells):
        leading = cells[0]
        # Said of the leading cell once already.
        evidence = {key: value for key, value in evidence.items() if key not in leading or leading[key] != value}
        yield ""
        yield from map(plain, table_lines(cells))
    elif cells:
        evidence["cells"] = cells
    further = [plain(line) for line in evidence_lines(evidence)]
    if further:
        yield from ("", "further evidence")
        yield from (f"  {line}" for line in further)
    yield ""
    yield from _section("known", _known(incident))
    yield from _section("alert", _alert(incident, settings, now))
    yield from _section("muted", _muted(incident, now))
    yield from _section("query", _query(incident, settings, now))


def _section(name: str, lines: Iterator[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{name if number == 0 else '':<{_MARGIN}}{plain(line)}"


def _who(incident: Incident, evidence: dict[str, Any]) -> Iterator[str]:
    culprit = incident.culprit
    known = known_ranks(culprit.ranks)
    ranks = named_value("ranks", list(known))[1]
    parts = [f"{'rank' if len(known) == 1 else 'ranks'} {ranks}"] if ranks else []
    parts += [] if culprit.ranks else ["no rank stands out"]
    parts += [f"{name} {value}" for name, value in (("node", culprit.node), ("GPU", culprit.gpu)) if value]
    if uuid := evidence.pop("gpu_uuid", None):
        parts.append(str(uuid))
    yield ", ".join(parts)
    inner = evidence.pop("rank_in_communicator", None)
    within = f", in which it is rank {inner}" if inner is not None and known else ""
    job = f"job {culprit.job_id}, " if culprit.job_id else ""
    name = f"{culprit.comm_name} " if culprit.comm_name else ""
    yield f"{job}communicator {name}{culprit.comm}{within}"


def _when(incident: Incident, now: float) -> Iterator[str]:
    after = format_seconds(incident.detected_at - incident.started_at)
    yield f"since {format_instant(incident.started_at)}, detected {after} later"
    if incident.ended_at is None:
        yield f"goes on, for {format_seconds(max(0.0, now - incident.started_at))} now"
    else:
        lasted = format_seconds(incident.ended_at - incident.started_at)
        yield f"ended {format_instant(incident.ended_at)}, after {lasted}"


def _cost(incident: Incident, evidence: dict[str, Any]) -> Iterator[str]:
    idle = ""
    if isinstance(evidence.get("lost_gpus"), int | float):
        idle = f", as if {evidence.pop('lost_gpus'):.3g} GPUs did nothing"
    ranks = "1 rank waits" if incident.victims == 1 else f"{incident.victims} ranks wait"
    yield f"{incident.cost_ratio * 100:.3g}% of {cost_basis(incident.evidence)}{idle}; {ranks} for it"


def _test(evidence: dict[str, Any]) -> Iterator[str]:
    """The verdict, which test spoke, with which numbers, and in what."""
    spoke = evidence.pop("test", None) or evidence.pop("reason", None)
    if spoke:
        yield str(spoke)
    numbers = [
        " ".join(named_value(key, evidence.pop(key)))
        for key in list(evidence)
        if key.startswith(("cusum", "sigmas", "p_value", "threshold")) and isinstance(evidence[key], int | float)
    ]
    if numbers:
        yield ", ".join(numbers)
    shown = evidence.pop("shown_by", None)
    if shown:
        yield f"shown by {shown}"


def _alert(incident: Incident, settings: Settings, now: float) -> Iterator[str]:
    alert = _writer(settings).write(incident, now)
    labels = alert.labels
    yield f"{labels['alertname']}, {labels['severity']} ({incident.tier.value}), incident {incident.id}"
    urls = settings.alertmanager.urls
    if not urls:
        yield "no Alertmanager is configured: the daemon tells nobody"
    elif incident.ended_at is None:
        again = format_duration(settings.alertmanager.resend)
        yield f"the daemon sends it every {again} to {', '.join(str(url) for url in urls)}"
    else:
        yield f"resolved; the daemon sent it to {', '.join(str(url) for url in urls)}"
    if runbook := alert.annotations.get("runbook_url"):
        yield runbook


def _known(incident: Incident) -> Iterator[str]:
    """Alerts of others where it is."""
    for note in incident.context:
        end = "fires" if note.ended_at is None else f"ended {format_instant(note.ended_at)}"
        name = note.name or "an alert without a name"
        yield f"{name} ({note.effect.value}), since {format_instant(note.started_at)}, {end}"
        labels = [f'{name}="{value}"' for name, value in sorted(note.labels.items()) if name != "alertname"]
        if labels:
            yield f"  {', '.join(labels)}"


def _muted(incident: Incident, now: float) -> Iterator[str]:
    """Silences of its alert."""
    for silence in incident.silenced_by:
        until = "until" if silence.ends_at > now else "was until"
        yield f"{until} {format_instant(silence.ends_at)} by {silence.created_by}: {silence.comment}"
        yield f"  silence {silence.id}"


def _query(incident: Incident, settings: Settings, now: float) -> Iterator[str]:
    yield graph_query(incident.culprit, settings.prometheus.selector)
    yield _writer(settings).write(incident, now).generator_url


def _writer(settings: Settings) -> AlertWriter:
    return AlertWriter(settings.alertmanager, settings.prometheus, Instants(settings.schedule).tick_seconds)
