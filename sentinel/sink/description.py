"""An incident in a few sentences with its numbers, for the alert's description."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from sentinel.model.context import ContextNote
from sentinel.model.incident import Incident, Verdict, cost_basis
from sentinel.model.instant import format_instant
from sentinel.model.place_rank import known_ranks
from sentinel.model.quantity import format_quantity, format_seconds
from sentinel.transport.redaction import one_line

__all__ = ["describe"]


def describe(incident: Incident) -> str:
    """What it costs and since when, what shows it, who waits, and where there is more."""
    return " ".join(_sentences(incident))


def _sentences(incident: Incident) -> Iterator[str]:
    over = incident.ended_at is not None
    yield (
        f"It {'cost' if over else 'costs'} {incident.cost_ratio * 100:.3g}% of {cost_basis(incident.evidence)}, "
        f"since {format_instant(incident.started_at)}."
    )
    yield from _DETAILS.get(incident.culprit.verdict, _numbers)(incident.evidence)
    yield from _earlier(incident.evidence)
    ranks, wait = ("rank", "waits") if incident.victims == 1 else ("ranks", "wait")
    yield f"{incident.victims} {ranks} {'waited' if over else wait} for it."
    yield from _context(incident)
    if incident.recurrences:
        yield f"It has come back {incident.recurrences} {'time' if incident.recurrences == 1 else 'times'}."
    if incident.ended_at is not None:
        yield f"It ended after {format_seconds(incident.ended_at - incident.started_at)}."
    yield f"More: sentinel explain {incident.id}"


def _late(evidence: Mapping[str, Any]) -> Iterator[str]:
    try:
        cell: Mapping[str, Any] = evidence["cells"][0]
        size = format_quantity("size_bytes", cell["size_bytes"])[1]
        own, peers, lateness = (
            format_seconds(cell[key]) for key in ("duration_seconds", "peers_duration_seconds", "lateness_seconds")
        )
    except (KeyError, IndexError, TypeError):  # kept by another version
        yield from _numbers(evidence)
        return
    text = f"Its {cell['op']} of {size} takes {own} and its peers' {peers}: it arrives {lateness} after them"
    normal = cell.get("baseline_lateness_seconds")
    if normal is not None:
        text += f", normally {format_seconds(normal)}"
    yield text + "."
    victims = evidence.get("late_because_of_it")
    first = victims.get("first_ranks") if isinstance(victims, Mapping) else None
    if isinstance(victims, Mapping) and isinstance(first, list) and known_ranks(first):
        shown = ", ".join(str(rank) for rank in first[:_RANKS_SHOWN])
        yield f"Late because of it: rank {shown}" + (" and others." if victims.get("ranks", 0) > _RANKS_SHOWN else ".")


def _stalled(evidence: Mapping[str, Any]) -> Iterator[str]:
    reason = str(evidence.get("reason", "nothing finishes"))
    lasts = evidence.get("stalled_seconds")
    yield f"{reason[:1].upper()}{reason[1:]}" + (f", for {format_seconds(lasts)}." if lasts is not None else ".")
    if missing := evidence.get("ranks_without_data"):
        yield f"About {missing} of the ranks nothing is known."


def _slow_link(evidence: Mapping[str, Any]) -> Iterator[str]:
    if evidence.get("kind") in _PLACES:
        yield from _common_place(evidence)
        return
    peer, node = evidence.get("peer_rank"), evidence.get("peer_node")
    other = f"rank {peer}" + (f" on {node}" if node else "") if peer is not None else "its peers"
    try:
        own, peers = (format_seconds(evidence[key]) for key in ("step_seconds", "peers_step_seconds"))
        yield {
            "slow_sender": f"A network step to {other} is on the wire for {own}, its peers' for {peers}.",
            "slow_receiver_host": f"Its host takes {own} a step to take in what {other} sent, its peers' {peers}.",
        }[evidence["kind"]]
    except (KeyError, TypeError):  # kept by another version
        yield from _numbers(evidence)


def _common_place(evidence: Mapping[str, Any]) -> Iterator[str]:
    """Where slow communicators meet."""
    slower, healthy = evidence.get("slower_communicators"), evidence.get("healthy_communicators")
    place = _PLACES[evidence["kind"]]
    yield f"All {slower} slow communicators of the job meet at this {place}, and none of {healthy} healthy ones."
    yield from _slow_fabric(evidence)


def _slow_fabric(evidence: Mapping[str, Any]) -> Iterator[str]:
    try:
        cell = evidence["cells"][0]
        size = format_quantity("size_bytes", cell["size_bytes"])[1]
        now, normal = (format_seconds(cell[key]) for key in ("transfer_seconds", "baseline_transfer_seconds"))
        yield f"Its {cell['op']} of {size} takes {now} with nobody late, normally {normal}."
    except (KeyError, IndexError, TypeError):
        yield from _numbers(evidence)


def _missing(evidence: Mapping[str, Any]) -> Iterator[str]:
    reason = str(evidence.get("reason", "its series are gone"))
    lasts = evidence.get("missing_seconds")
    yield f"{reason[:1].upper()}{reason[1:]}" + (f", for {format_seconds(lasts)}." if lasts is not None else ".")


def _drift(evidence: Mapping[str, Any]) -> Iterator[str]:
    try:
        rise, slope, before = (
            f"{evidence[key] * 100:.3g}%" for key in ("rise_ratio", "slope_ratio_per_hour", "before_ratio")
        )
        what = "Transfers take" if evidence["of"] == "transfer" else "Waiting for it takes"
        yield f"{what} {rise} more of {cost_basis(evidence)} than the {before} before, and {slope} more each hour."
    except (KeyError, TypeError):
        yield from _numbers(evidence)


def _earlier(evidence: Mapping[str, Any]) -> Iterator[str]:
    """Whether it stays with the hardware, and what happened there before."""
    earlier = evidence.get("earlier")
    if not isinstance(earlier, Mapping) or not {"rank", "node", "started_at"} <= earlier.keys():
        return
    follows = evidence.get("follows")
    place = f"rank {earlier['rank']}, on {earlier['node']} GPU {earlier.get('gpu', '')}".rstrip()
    yield (f"It follows the {_HARDWARE.get(str(follows), follows)}" if follows else "It is not the first time") + (
        f": {place}, was named in job {earlier.get('job_id', '')} at {earlier['started_at']}."
    )


def _context(incident: Incident) -> Iterator[str]:
    """Alerts of others that fire or fired there."""
    shown = incident.context[:_NOTES_SHOWN]
    names = [f"{one_line(note.name, _NAME_CHARACTERS) or 'an alert without a name'} {_lasts(note)}" for note in shown]
    if names:
        more = len(incident.context) - len(shown)
        yield f"Known there: {'; '.join(names)}{f'; and {more} more' if more else ''}."


def _lasts(note: ContextNote) -> str:
    began = format_instant(note.started_at)
    return f"fires since {began}" if note.ended_at is None else f"fired from {began} to {format_instant(note.ended_at)}"


def _numbers(evidence: Mapping[str, Any]) -> Iterator[str]:
    """All of the evidence that is one number or word."""
    parts = [
        " ".join(format_quantity(key, value))
        for key, value in evidence.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool) and value != "" and key != "follows"
    ]
    if parts:
        yield "; ".join(parts) + "."


_RANKS_SHOWN: Final = 4
_NOTES_SHOWN: Final = 3
_NAME_CHARACTERS: Final = 60
_PLACES: Final = {"common_node": "node", "common_gpu": "GPU"}
_HARDWARE: Final = {"gpu": "GPU"}
_DETAILS: Final[Mapping[Verdict, Callable[[Mapping[str, Any]], Iterator[str]]]] = {
    Verdict.LATE_RANK: _late,
    Verdict.STALLED: _stalled,
    Verdict.SLOW_LINK: _slow_link,
    Verdict.SLOW_FABRIC: _slow_fabric,
    Verdict.RANK_MISSING: _missing,
    Verdict.DRIFT: _drift,
}
