"""All incidents, all jobs, and their communicators."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from sentinel.top.answers import Communicator, Incident, Job
from sentinel.top.incident_rows import incident_section
from sentinel.top.place import Choice, Order, Page, PageKind
from sentinel.top.ranks import accusation, place_text, worst_first
from sentinel.top.seen import Seen
from sentinel.top.view import Column, Row, Section, View
from sentinel.top.words import comm_text, health_text, job_text, ratio_text, seconds_text, state_text

__all__ = ["going_on", "job_view", "overview"]

_SHOWN: Final = 4  # communicators of a job where there are several jobs
_COLUMNS: Final = (
    Column("JOB, COMMUNICATOR"),
    Column("RANKS", 11, right=True, least=50),
    Column("STATE", 9),
    Column("COSTS", 6, right=True, least=60),
    Column("WORST RANK", 21, least=70),
    Column("LATE NOW", 8, right=True),
)


def overview(seen: Seen, now: float) -> View:
    """Of everything. `now`: Unix seconds."""
    if seen.status is None:
        return View((), ())
    jobs = seen.status.jobs
    most = None if len(jobs) == 1 else _SHOWN
    rows = tuple(row for job in jobs for row in _job_rows(job, seen, most))
    left = f", {seen.status.jobs_left_out} more cost less" if seen.status.jobs_left_out else ""
    title = f"Jobs: {len(jobs)}{left}" if jobs else "Jobs"
    return View(
        (),
        (
            incident_section("Incidents", _incidents(seen), now, "None in the time that is kept."),
            Section(title, _COLUMNS, rows, "No job is seen. Communicators appear with the first tick that finds them."),
        ),
    )


def job_view(seen: Seen, about: tuple[str, ...], now: float) -> View:
    """One job: its incidents, and all of its communicators."""
    job = next((each for each in seen.status.jobs if (each.job_id, each.job) == about), None) if seen.status else None
    if job is None:
        return View((Text(f"Job {about[0] or about[1]} is not seen any more."),), ())
    over = [each for each in _incidents(seen) if each.ended_at is not None and each.job_id == job.job_id != ""]
    head, *communicators = _job_rows(job, seen, None)
    more = job.communicators_count - len(job.communicators)
    left = f", {more} smaller ones are left out" if more > 0 else ""
    title = f"Communicators: {job.communicators_count}{left}"
    heading = Text.assemble(f"Job {job_text(job)}: ", head.cells[2], f", costs {head.cells[3].plain or 'nothing'}")
    return View(
        (heading,),
        (
            incident_section("Incidents", [*job.incidents, *over], now, "None."),
            Section(title, _COLUMNS, tuple(communicators), "None is seen now."),
        ),
    )


def going_on(seen: Seen) -> dict[str, Incident]:
    """Incidents that go on, by id."""
    return {each.id: each for job in seen.status.jobs for each in job.incidents} if seen.status else {}


def _incidents(seen: Seen) -> Sequence[Incident]:
    """As the newest status says; what has ended as the newest list does."""
    now = going_on(seen)
    listed = seen.incidents.incidents if seen.incidents else ()
    ended = [each for each in listed if each.ended_at is not None and each.id not in now]
    return [*sorted(now.values(), key=lambda each: (each.tier, -each.cost_ratio, each.id)), *ended]


def _job_rows(job: Job, seen: Seen, most: int | None) -> Iterator[Row]:
    page = Page(PageKind.JOB, (job.job_id, job.job))
    costs = ratio_text(job.cost_ratio) if job.incidents else ""
    seen_ratio = f"{ratio_text(job.ranks_seen_ratio)} seen" if job.ranks_seen_ratio < 1.0 else ""
    yield Row(
        Choice(page, page),
        (Text(job_text(job), "bold"), Text(seen_ratio), health_text(job.health), Text(costs), Text(), Text()),
    )
    shown = job.communicators[:most]
    for each in shown:
        yield _communicator_row(each, seen)
    more = job.communicators_count - len(shown)
    if most is not None and more > 0:
        cells = (Text(f"  and {more} more"), *(Text() for _ in _COLUMNS[1:]))
        yield Row(Choice(("more", page), page), cells)


def _communicator_row(each: Communicator, seen: Seen) -> Row:
    accused, known = going_on(seen), seen.rankings.get(each.comm)
    worst, late, style, costs = "", "", "", ""
    if isinstance(known, str) or known is None:
        worst = "-" if known else ""
    elif known.ranks:
        row = worst_first(known, accused, Order.NEWEST)[0]
        incident = accusation(row, accused)
        style = "bold" if incident else "dim"
        costs = ratio_text(incident.cost_ratio) if incident else ""
        worst, late = place_text(row), seconds_text(row.lateness_newest_seconds)
    page = Page(PageKind.COMMUNICATOR, (each.comm,))
    cells = (
        Text(f"  {comm_text(each)}"),
        Text(f"{each.ranks}/{each.nranks or each.ranks}"),
        state_text(each.state),
        Text(costs),
        Text(worst, style),
        Text(late, style),
    )
    return Row(Choice(page, page), cells, each.comm)
