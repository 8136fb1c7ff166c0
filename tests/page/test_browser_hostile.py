"""Names come from jobs, and evidence from them: none of it is markup, a link or a script."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from page.scenes import COMM, NOW, Scene, column, facts, moment, roster
from page.served import serving
from page.visit import barriers, follow, visit
from playwright.sync_api import Browser, expect
from servers.incidents import INCIDENT

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.history.moment import CommunicatorMoment
from sentinel.history.roster import Place
from sentinel.model.context import ContextNote, Effect, Silence
from sentinel.page.facts import Facts
from sentinel.sink.alert import AlertWriter

EVIL = """<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>' \u202e\u0000{{static}}"""


class Hostile(Scene):
    """Everything that a job may name is markup."""

    def __init__(self, directory: Path) -> None:
        culprit = replace(INCIDENT.culprit, job=EVIL, job_id=EVIL, comm_name=EVIL, node=EVIL, gpu=EVIL)
        incident = replace(
            INCIDENT,
            culprit=culprit,
            evidence={EVIL: EVIL, "cells": [{"op": EVIL, EVIL: 1.0}], "list": [EVIL]},
            context=(ContextNote(Effect.NOTE, {"alertname": EVIL, "x": EVIL}, NOW),),
            silenced_by=(Silence(EVIL, EVIL, EVIL, NOW),),
        )
        super().__init__(directory, incident)
        places = {rank: Place(rank, EVIL, EVIL) for rank in range(4)}
        who = roster(comm_name=EVIL, job=EVIL, job_id=EVIL, places=places)
        self.record._strips[COMM].roster = who
        shown = CommunicatorMoment(COMM, EVIL, EVIL, EVIL, 4, 4, EVIL)
        self.record.moment = moment(incident, communicators=(shown,))
        self.record._strips[COMM].add(column(NOW + 30.0, [0.0] * 4, state=EVIL))
        settings = AlertmanagerSettings(
            runbook_url="javascript:document.title='taken'", dashboard_url="http://x/{node}"
        )
        self.writer = AlertWriter(settings, PrometheusSettings(), 30.0)

    def facts(self) -> Facts:
        return facts(f"not ready: {EVIL}")


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with serving(Hostile(tmp_path)) as address:
        yield address


def test_nothing_that_a_job_names_is_markup(browser: Browser, url: str) -> None:
    with visit(browser, url) as page:
        expect(page.locator("tbody").first).to_contain_text("<img src=x onerror=")
        expect(page.locator("#pulse")).to_contain_text("<script>")
        assert page.locator("main img").count() == 0
        assert barriers(page) == []
        follow(page, ".incidents .incident-link")
        expect(page.locator("details.evidence")).to_contain_text("<img src=x onerror=")
        assert page.locator("main img, main script").count() == 0
        links = [each.get_attribute("href") for each in page.locator("main a").all()]
        assert not [link for link in links if not link.startswith(("#/", "http://"))]
        assert page.title() != "taken"


def test_nor_is_it_in_a_communicators_page(browser: Browser, tmp_path: Path) -> None:
    with serving(Hostile(tmp_path)) as url:
        context = browser.new_context()
        page = context.new_page()
        # Its store does not answer, which the console tells.
        page.goto(f"{url}/#/communicator/{COMM}")
        page.wait_for_selector("canvas[data-cells]")
        expect(page.locator(".ranking")).to_contain_text("<img src=x onerror=")
        expect(page.locator("text=Not known").first).to_be_visible()
        assert page.locator("main img, main script").count() == 0
        assert page.title() != "taken"
        context.close()
