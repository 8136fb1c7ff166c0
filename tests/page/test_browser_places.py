"""A job whose ranks nobody tells: its processes are known by the node and the GPU that they are on."""

from dataclasses import replace
from pathlib import Path

from page.scenes import COMM, NOW, Scene, column, moment, roster
from page.served import serving
from page.visit import follow, visit
from playwright.sync_api import Browser, expect
from servers.incidents import INCIDENT

from sentinel.history.roster import Place
from sentinel.model.place_rank import place_rank

PLACES = {rank: Place(place_rank("node0", str(rank)), "node0", str(rank)) for rank in range(4)}
NUMBERS = [str(place.global_rank) for place in PLACES.values()]


def scene(directory: Path) -> Scene:
    culprit = replace(INCIDENT.culprit, ranks=(PLACES[3].global_rank,))
    evidence = {"waiting_ranks": sorted(each.global_rank for each in PLACES.values()), **INCIDENT.evidence}
    found = Scene(directory, replace(INCIDENT, culprit=culprit, evidence=evidence))
    found.record._strips[COMM].roster = roster(places=PLACES)
    found.record._strips[COMM].add(column(NOW + 30.0, [0.0] * 4))
    found.record.moment = moment(*found.record.moment.incidents)
    return found


def test_no_number_that_stands_for_a_place_is_shown(browser: Browser, tmp_path: Path) -> None:
    with serving(scene(tmp_path)) as url:
        with visit(browser, url) as page:
            follow(page, ".incidents .incident-link")
            expect(page.locator("dl.facts").first).to_contain_text("what is on node0 GPU 3")
            expect(page.locator("figure .legend").first).to_contain_text("node0 GPU 3")
            assert not [number for number in NUMBERS if number in page.content()]
        context = browser.new_context()
        page = context.new_page()
        # Its store does not answer, which the console tells.
        page.goto(f"{url}/#/communicator/{COMM}")
        page.wait_for_selector("canvas[data-cells]")
        expect(page.locator(".ranking tbody tr").first).to_contain_text("Rank 3 in the communicator")
        expect(page.locator(".heat-mark")).to_have_text("3 ▶")
        page.fill("#rank-filter", "2")
        expect(page.locator(".ranking tbody tr")).to_have_count(1)
        assert not [number for number in NUMBERS if number in page.content()]
        context.close()


def test_victims_are_named_as_far_as_the_evidence_does(browser: Browser, tmp_path: Path) -> None:
    evidence = {"waiting_ranks": [0, 2], **INCIDENT.evidence}
    with (
        serving(Scene(tmp_path, replace(INCIDENT, evidence=evidence))) as url,
        visit(browser, url, f"/#/incident/{INCIDENT.id}") as page,
    ):
        expect(page.locator("dl.facts").first).to_contain_text("7 ranks wait for it; its evidence names ranks 0, 2")
