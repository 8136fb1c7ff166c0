"""One communicator: what is said of it, and its ranks, the worst first."""

from typing import Final

from rich.text import Text

from sentinel.top.answers import Communicator, Incident, Job, Ranking, RankRow
from sentinel.top.incident_rows import incident_section
from sentinel.top.overview import going_on
from sentinel.top.place import Choice, Order, Page, PageKind
from sentinel.top.ranks import accusation, waits, worst_first
from sentinel.top.seen import Seen
from sentinel.top.view import Column, Row, Section, View
from sentinel.top.words import comm_text, job_text, ratio_text, seconds_text
from sentinel.transport.redaction import one_line

__all__ = ["MOST_RANKS", "communicator_view"]

MOST_RANKS: Final = 256
"""Each key draws anew: more would be felt."""

_COLUMNS: Final = (
    Column("RANK", 6, right=True),
    Column("NODE"),
    Column("GPU", 4, least=60),
    Column("LATE NOW", 8, right=True),
    Column("MEDIAN", 8, right=True, least=100),
    Column("P95", 8, right=True, least=50),
    Column("INSIDE", 8, right=True, least=110),
    Column("WAITS", 8, right=True, least=70),
    Column("COSTS", 6, right=True, least=80),
    Column("INCIDENT", 15, least=60),
)


def communicator_view(seen: Seen, comm: str, now: float, order: Order, most: int = MOST_RANKS) -> View:
    """With the `most` worst ranks. `now`: Unix seconds."""
    accused = going_on(seen)
    known = seen.rankings.get(comm)
    heading: tuple[Text, ...] = (_heading(seen, comm),)
    if not isinstance(known, Ranking):
        why = known if isinstance(known, str) else "Asking the daemon."
        return View(heading, (Section("Ranks", _COLUMNS, (), why),))
    if known.fault:
        heading += (Text(f"Some may be missing: {known.fault}", "bold red"),)
    named = {id_ for row in known.ranks for id_ in row.incidents}
    touching = [each for each in accused.values() if each.id in named or each.comm == comm]
    waiting = waits(known)
    worst = worst_first(known, accused, order)
    rows = tuple(_row(each, accused, waiting) for each in worst[:most])
    count = len(worst) + known.ranks_left_out
    which = f"the worst {len(rows)} of {count}" if count > len(rows) else str(count)
    ranks = Section(f"Ranks: {which}, by {order.value}", _COLUMNS, rows, "None is measured.")
    if not touching:
        return View(heading, (ranks,))
    return View(heading, (incident_section("Incidents", touching, now), ranks))


def _heading(seen: Seen, comm: str) -> Text:
    found = _find(seen, comm)
    if found is None:
        return Text(f"Communicator {one_line(comm, 40)}: not seen any more")
    job, each = found
    id_ = f" ({one_line(comm, 40)})" if each.comm_name else ""
    text = Text.assemble("Communicator ", (comm_text(each), "bold"), f"{id_} of job ", (job_text(job), "bold"))
    return text.append(f": {each.ranks} of {each.nranks or each.ranks} ranks, {each.state}")


def _find(seen: Seen, comm: str) -> tuple[Job, Communicator] | None:
    jobs = seen.status.jobs if seen.status else ()
    return next(((job, each) for job in jobs for each in job.communicators if each.comm == comm), None)


def _row(row: RankRow, accused: dict[str, Incident], waiting: dict[int, float]) -> Row:
    incident = accusation(row, accused)
    style = "bold" if incident else ""
    cells = (
        "-" if row.global_rank is None else str(row.global_rank),
        row.node or "-",
        row.gpu or "-",
        seconds_text(row.lateness_newest_seconds),
        seconds_text(row.lateness_median_seconds),
        seconds_text(row.lateness_p95_seconds),
        seconds_text(row.duration_median_seconds),
        seconds_text(waiting.get(row.rank)),
        ratio_text(incident.cost_ratio) if incident else "",
        f"{incident.tier} {incident.verdict}" if incident else "",
    )
    opens = Page(PageKind.INCIDENT, (incident.id,)) if incident else None
    return Row(Choice(row.rank, opens), tuple(Text(cell, style) for cell in cells))
