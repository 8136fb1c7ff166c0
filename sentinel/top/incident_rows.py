"""Incidents as rows."""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from sentinel.top.answers import Incident
from sentinel.top.place import Choice, Page, PageKind
from sentinel.top.view import Column, Row, Section
from sentinel.top.words import age_text, clock_text, ratio_text, tier_text

__all__ = ["incident_section"]

_COLUMNS: Final = (
    Column("TIER", 4),
    Column("SINCE", 9, least=100),
    Column("WHEN", 14),
    Column("COSTS", 6, right=True, least=50),
    Column("WAITING", 7, right=True, least=110),
    Column("VERDICT", 12, least=90),
    Column("WHAT"),
)


def incident_section(title: str, incidents: Sequence[Incident], now: float, empty: str = "") -> Section:
    """Those that go on and those that have ended; `now`: Unix seconds."""
    going_on = sum(each.ended_at is None for each in incidents)
    over = len(incidents) - going_on
    counts = f"{going_on} go on" if going_on != 1 else "1 goes on"
    ended = f", {over} ended" if over else ""
    said = f"{title}: {counts}{ended}" if incidents else title
    return Section(said, _COLUMNS, tuple(_row(each, now) for each in incidents), empty)


def _row(incident: Incident, now: float) -> Row:
    over = incident.ended_at is not None
    if incident.ended_at is None:
        when = f"for {age_text(now - incident.started_at)}"
    else:
        when = f"ended {age_text(now - incident.ended_at)} ago"
    style = "dim" if over else ""
    silenced = "silenced: " if incident.silenced else ""
    cells = (
        Text(incident.tier, "dim") if over else tier_text(incident.tier),
        Text(clock_text(incident.started_at), style),
        Text(when, style),
        Text(ratio_text(incident.cost_ratio), style),
        Text(str(incident.victims), style),
        Text(incident.verdict, style),
        Text(f"{silenced}{incident.summary}", style),
    )
    return Row(Choice(("incident", incident.id), Page(PageKind.INCIDENT, (incident.id,))), cells)
