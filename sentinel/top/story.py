"""One incident, in sentences."""

from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.text import Text

from sentinel.model.instant import format_instant
from sentinel.top.answers import EvidencePart, Story
from sentinel.top.place import Choice, Page, PageKind
from sentinel.top.seen import Seen
from sentinel.top.view import Column, Row, Section, View
from sentinel.top.words import comm_text, ratio_text, seconds_text, tier_text
from sentinel.transport.redaction import one_line

__all__ = ["story_view"]

_COLUMNS: Final = (Column(""),)
_RANKS_SHOWN: Final = 64
_LONG_LINK: Final = "query"  # last: it takes many lines


def story_view(seen: Seen, id_: str, now: float, width: int) -> View:
    """Its text in lines of at most `width` cells; each of them opens the communicator. `now`: Unix seconds."""
    story = seen.stories.get(id_)
    if not isinstance(story, Story):
        why = story if isinstance(story, str) else "Asking the daemon."
        return View((Text(f"Incident {one_line(id_, 40)}"),), (Section("", _COLUMNS, (), why),))
    opens = Page(PageKind.COMMUNICATOR, (story.comm,)) if story.comm else None
    console = Console(width=max(10, width))
    lines = [line for text in _paragraphs(story, now) for line in text.wrap(console, console.width) or [text]]
    rows = tuple(Row(Choice(number, opens), (line,)) for number, line in enumerate(lines))
    heading = Text.assemble(tier_text(story.tier), " ", (story.summary, "bold"))
    return View((heading,), (Section("", _COLUMNS, rows),))


def _paragraphs(story: Story, now: float) -> Iterator[Text]:
    yield Text(story.description)
    yield Text()
    yield _fact("verdict", f"{story.verdict}, alert {story.alertname}, incident {one_line(story.id, 40)}")
    yield _fact("job", f"{story.job_id or '-'}, communicator {comm_text(story)}")
    if len(story.ranks) > 1:
        more = len(story.ranks) - _RANKS_SHOWN
        ranks = ", ".join(map(str, story.ranks[:_RANKS_SHOWN]))
        yield _fact("ranks", f"{ranks} and {more} more" if more > 0 else ranks)
    yield _fact("since", _time(story, now))
    waiting = "1 rank waits" if story.victims == 1 else f"{story.victims} ranks wait"
    yield _fact("costs", f"{ratio_text(story.cost_ratio)} of the job's time; {waiting} for it")
    for silence in story.silenced_by:
        until = format_instant(silence.ends_at)
        yield _fact("silenced", f"until {until} by {silence.created_by}: {silence.comment}")
    for note in story.context:
        name = note.alertname or "an alert without a name"
        yield _fact("known", f"{name} ({note.effect}), since {format_instant(note.started_at)}")
    for name, url in story.links.items():
        if name != _LONG_LINK:
            yield _fact(name, url)
    yield _fact("more", f"sentinel explain {one_line(story.id, 40)}")
    if story.evidence_parts:
        yield Text()
        yield Text("Evidence", "bold")
    for part in story.evidence_parts:
        yield from _evidence(part)
    if query := story.links.get(_LONG_LINK):
        yield Text()
        yield _fact(_LONG_LINK, query)


def _time(story: Story, now: float) -> str:
    since = format_instant(story.started_at)
    if story.ended_at is None:
        return f"{since}, for {seconds_text(max(0.0, now - story.started_at))} now"
    return f"{since} until {format_instant(story.ended_at)}, for {seconds_text(story.ended_at - story.started_at)}"


def _evidence(part: EvidencePart) -> Iterator[Text]:
    if part.value is not None:
        yield _fact(part.name, part.value)
    for row in part.rows:
        pairs = (f"{column} {value}" for column, value in zip(part.columns, row, strict=False))
        yield _fact(part.name, ", ".join(pairs))


def _fact(name: str, value: str) -> Text:
    return Text.assemble((f"{name}: ", "bold"), value)
