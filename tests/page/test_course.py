from pathlib import Path

import pytest
from page.scenes import NOW, Scene
from servers.incidents import INCIDENT, incident

from sentinel.page.course import course_document


def test_the_culprit_and_the_others(tmp_path: Path) -> None:
    found = course_document(Scene(tmp_path).record, INCIDENT, NOW)
    assert found["culprits"] == [3]
    assert found["times"] == [NOW - 30.0 * back for back in range(20, -1, -1)]
    late = found["lateness_seconds"]
    assert late["culprits"][0][-1] == pytest.approx(1e-3)
    assert late["peers_median"][-1] == pytest.approx(0.0, abs=1e-9)
    assert late["peers_p90"][-1] == pytest.approx(8e-6, rel=1e-3)
    assert found["duration_seconds"]["culprits"][0][-1] == pytest.approx(1e-3, rel=1e-3)


def test_what_began_before_the_ticks_is_drawn_in_bins(tmp_path: Path) -> None:
    found = course_document(Scene(tmp_path).record, incident(started_at=NOW - 1300.0), NOW)
    assert found["times"][0] == NOW - 1200.0


def test_nothing_is_drawn_of_what_is_not_kept(tmp_path: Path) -> None:
    record = Scene(tmp_path).record
    assert course_document(record, incident(started_at=1000.0, ended_at=2000.0), NOW) is None
    record._strips.clear()
    assert course_document(record, INCIDENT, NOW) is None


def test_of_many_culprits_eight_are_drawn(tmp_path: Path) -> None:
    found = course_document(Scene(tmp_path).record, incident(ranks=(0, 1, 2, 3, 40)), NOW)
    assert found["culprits"] == [0, 1, 2, 3]
    assert all(each != each for each in found["lateness_seconds"]["peers_median"])  # nobody is left
