from dataclasses import replace
from itertools import product

import pytest
from page.scenes import COMM, NOW
from rich.cells import cell_len
from servers.incidents import INCIDENT, incident
from top.clusters import AT, cluster, hostile
from top.drawing import OVERVIEW, drawn, lines, plain

from sentinel.history.moment import CommunicatorMoment
from sentinel.model.incident import Tier, Verdict
from sentinel.model.snapshot import DataQuality
from sentinel.top.answers import Ranking
from sentinel.top.place import Order, Page, PageKind
from sentinel.top.ranks import waits
from sentinel.top.seen import Seen

RANKS = Page(PageKind.COMMUNICATOR, (COMM,))
STORY = Page(PageKind.INCIDENT, (INCIDENT.id,))
JOB = Page(PageKind.JOB, (INCIDENT.culprit.job_id, INCIDENT.culprit.job))
HELP = Page(PageKind.HELP)
PAGES = (OVERVIEW, RANKS, STORY, JOB, HELP)
SIZES = ((80, 24), (20, 5), (40, 10), (200, 60), (10, 3), (1, 1))


def large() -> Seen:
    late = [1e-6 * (rank % 7) for rank in range(1024)]
    late[517] = 2e-3
    named = incident(ranks=(517,))
    return cluster(named, late=late)


def crowded() -> Seen:
    """Ten jobs of twelve communicators, and thirty incidents."""
    communicators = [
        CommunicatorMoment(f"{job:08x}{number:08x}", f"c{number}", f"job{job}", f"job{job}", 8, 8, "watching")
        for job in range(10)
        for number in range(12)
    ]
    return cluster(*(incident(f"id{rank:010}", ranks=(rank,)) for rank in range(30)), communicators=communicators)


CLUSTERS = {
    "small": cluster(INCIDENT),
    "nothing known": Seen(),
    "no daemon": Seen(fault="Connection refused"),
    "empty": cluster(communicators=()),
    "one rank": cluster(late=(0.0,)),
    "large": large(),
    "crowded": crowded(),
    "hostile": hostile(),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_page_fills_every_terminal_exactly(name: str) -> None:
    seen = CLUSTERS[name]
    for page, (width, height), order in product(PAGES, SIZES, (Order.NEWEST, Order.WAIT)):
        shown = lines(seen, page, width, height, order=order)
        assert len(shown) == height, (page, width, height)
        assert max(map(cell_len, shown)) <= width, (page, width, height)


@pytest.mark.parametrize("name", CLUSTERS)
def test_the_chosen_row_is_seen_wherever_it_is(name: str) -> None:
    seen = CLUSTERS[name]
    for page, height in product((OVERVIEW, RANKS, JOB), (24, 9)):
        count = len(drawn(seen, page, 80, 200).visible)
        for chosen in {0, 1, count // 2, max(0, count - 1)} & set(range(count)):
            (marked,) = (line for line in lines(seen, page, 80, height, chosen) if line.startswith(">"))
            assert marked.strip() != ">"


def test_nothing_that_a_job_names_moves_the_cursor_or_is_markup() -> None:
    seen = hostile()
    for page in (*PAGES, Page(PageKind.COMMUNICATOR, ("\x1b[2J",)), Page(PageKind.INCIDENT, ("\x1b[2J",))):
        text = "\n".join(lines(seen, page, 300, 60))
        assert all(each.isprintable() for each in text.replace("\n", ""))
    assert "[bold red]x[/]" in "\n".join(lines(seen, RANKS, 300))
    assert ":skull:" in "\n".join(lines(seen, STORY, 300, 60))
    assert all(each.isprintable() for each in plain(seen).replace("\n", ""))


def test_the_overview_tells_who_where_and_how_much() -> None:
    text = lines(cluster(INCIDENT))
    assert text[0].rstrip() == "sentinel top  http://127.0.0.1:9848  19:46:00Z  looked 0s ago, every 30 s"
    assert "> P1   for 10m         9.09% Rank 3 (on node0 GPU 3) arrives late at collec" in text[4]
    assert next(line for line in text if line.startswith("  4711")).split() == ["4711", "slow", "9.09%"]
    row = next(line for line in text if line.startswith("    dp"))
    assert row.split() == ["dp", "4/4", "watching", "9.09%", "3", "on", "node1", "GPU", "1", "1", "ms"]
    assert text[-1].startswith("j/k choose")


def test_incidents_that_go_on_come_before_those_that_are_over_the_loudest_first() -> None:
    stalled = incident("stalled", ranks=(1,), tier=Tier.P0, cost_ratio=0.01)
    stalled = replace(stalled, culprit=replace(stalled.culprit, verdict=Verdict.STALLED))
    over = incident("over", ranks=(2,), ended_at=NOW - 7200.0)
    text = lines(cluster(over, INCIDENT, stalled), width=120)
    rows = [line.split()[:2] for line in text if " P1 " in line or " P0 " in line]
    assert [row[-1] if row[0] == ">" else row[0] for row in rows] == ["P0", "P1", "P1"]
    assert "Incidents: 2 go on, 1 ended" in "\n".join(text)
    assert "ended 2h ago" in "\n".join(text)


def test_ranks_are_ordered_as_asked_and_the_accused_stand_first() -> None:
    late = (0.0, 3e-3, -2e-3, 1e-3)  # rank 1 is later now than the one that is accused

    def order(by: Order) -> list[str]:
        text = lines(cluster(INCIDENT, late=late), RANKS, order=by)
        start = next(number for number, line in enumerate(text) if line.split()[:1] == ["RANK"])
        return [line.lstrip("> ").split()[0] for line in text[start + 1 : start + 5]]

    assert order(Order.NEWEST) == ["3", "1", "0", "2"]
    assert order(Order.WAIT) == ["2", "0", "3", "1"]


def test_who_is_last_waits_for_nobody() -> None:
    ranking = cluster(late=(0.0, 1e-3, -5e-4)).rankings[COMM]
    assert isinstance(ranking, Ranking)
    assert waits(ranking) == pytest.approx({0: 1e-3, 1: 0.0, 2: 1.5e-3}, rel=1e-5)


def test_of_1024_ranks_the_worst_that_fit() -> None:
    shown = drawn(large(), RANKS)
    ranks = [row for row in shown.visible if isinstance(row.choice.key, int)]
    assert ranks[0].choice.key == 517
    assert 10 <= len(ranks) < 24
    text = "\n".join(lines(large(), RANKS))
    assert "Ranks: the worst 256 of 1024, by lateness now (1 to " in text
    assert drawn(large()).visible[-1].comm == COMM


def test_the_story_says_what_the_alert_says_and_leads_on() -> None:
    text = " ".join(" ".join(lines(cluster(INCIDENT), STORY, height=60)).split())
    for said in (
        "It costs 9.09% of the job's time", "late_rank, alert NcclRankLate", "runbook: https://wiki.example/NcclRankLate",
        "lateness: 1 ms", "cells: op AllReduce", "7 ranks wait for it", "sentinel explain 7611f548bd54",
    ):  # fmt: skip
        assert said in text
    assert {row.choice.opens for row in drawn(cluster(INCIDENT), STORY).visible} == {RANKS}


def test_what_is_gone_is_said() -> None:
    seen = replace(cluster(), rankings={COMM: "there is no communicator"}, stories={"ff": "there is no incident ff"})
    assert "there is no communicator" in "\n".join(lines(seen, RANKS))
    assert "there is no incident ff" in "\n".join(lines(seen, Page(PageKind.INCIDENT, ("ff",))))
    assert "Job gone is not seen any more." in "\n".join(lines(seen, Page(PageKind.JOB, ("gone", "gone"))))
    assert "No job is seen." in "\n".join(lines(cluster(communicators=())))


def test_of_several_jobs_a_few_communicators_each_and_all_of_them_on_the_jobs_page() -> None:
    seen = crowded()
    assert "  and 8 more" in "\n".join(lines(seen, height=300))
    page = next(row.choice.opens for row in drawn(seen, height=300).visible if row.cells[0].plain == "  and 8 more")
    assert page is not None
    shown = drawn(seen, page, height=300).visible
    assert len([row for row in shown if row.comm]) == 12


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (replace(cluster(), fault="Connection refused"), "answer: Connection refused. What is shown is 0s old."),
        (Seen(fault="Connection refused"), "The daemon does not answer: Connection refused. Asked again."),
        (replace(cluster(), fault="x", at=AT - 90.0), "What is shown is 90s old."),
        (cluster(fault="no tick for 3m"), "The daemon is not well: no tick for 3m"),
        (cluster(incidents_fault="broken"), "Some incidents may be missing: broken"),
        (cluster(quality=DataQuality(warnings=("x",))), "answers may be partial"),
        (cluster(quality=DataQuality(warnings=("slow",))), "The metrics store warns: slow"),
        (cluster(quality=DataQuality(malformed_series=3)), "Malformed series that are left out: 3"),
    ],
)  # fmt: skip
def test_what_is_not_well_stands_above(seen: Seen, said: str) -> None:
    for page in (OVERVIEW, RANKS):
        assert said in "\n".join(lines(seen, page, width=120)[:4])


def test_the_age_of_a_look_grows_by_our_clock() -> None:
    assert "looked 90s ago" in lines(replace(cluster(), at=AT - 90.0))[0]


def test_ranks_that_nobody_tells_are_shown_by_their_place() -> None:
    seen = cluster()
    ranking = seen.rankings[COMM]
    assert isinstance(ranking, Ranking)
    document = ranking.model_dump()
    for row in document["ranks"]:
        row["global_rank"] = None
    nameless = replace(seen, rankings={COMM: Ranking.model_validate(document)})
    for page in (OVERVIEW, RANKS):
        rows = [line for line in lines(nameless, page, 160) if ranking.ranks[0].node in line]
        assert rows
        assert not [line for line in rows if "None" in line]
