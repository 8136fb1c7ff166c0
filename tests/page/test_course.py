from pathlib import Path

import pytest
from page.scenes import NOW, Scene
from servers.incidents import INCIDENT, incident

from sentinel.history.archive_file import FILE_NAME
from sentinel.page.course import course_document


def test_the_culprit_and_the_others(tmp_path: Path) -> None:
    found, fault = course_document(Scene(tmp_path).past, INCIDENT, NOW)
    assert (found["culprits"], fault) == ([{"global_rank": 3, "node": "node1", "gpu": "1"}], "")
    assert found["times"] == [NOW - 30.0 * back for back in range(20, -1, -1)]
    late = found["lateness_seconds"]
    assert late["culprits"][0][-1] == pytest.approx(1e-3)
    assert late["peers_median"][-1] == pytest.approx(0.0, abs=1e-9)
    assert late["peers_p90"][-1] == pytest.approx(8e-6, rel=1e-3)
    assert found["duration_seconds"]["culprits"][0][-1] == pytest.approx(1e-3, rel=1e-3)


def test_what_began_before_the_ticks_is_drawn_in_bins(tmp_path: Path) -> None:
    found, _ = course_document(Scene(tmp_path).past, incident(started_at=NOW - 1300.0), NOW)
    assert found["times"][0] == NOW - 1200.0


def test_nothing_is_drawn_of_what_is_not_kept(tmp_path: Path) -> None:
    past = Scene(tmp_path).past
    assert course_document(past, incident(started_at=1000.0, ended_at=2000.0), NOW) == (None, "")
    (tmp_path / FILE_NAME).unlink()
    drawn, fault = course_document(past, incident(started_at=1000.0, ended_at=2000.0), NOW)
    assert drawn is None
    assert "unable to open" in fault


def test_of_many_culprits_eight_are_drawn(tmp_path: Path) -> None:
    found, _ = course_document(Scene(tmp_path).past, incident(ranks=(0, 1, 2, 3, 40)), NOW)
    assert [each["global_rank"] for each in found["culprits"]] == [0, 1, 2, 3]
    assert all(each != each for each in found["lateness_seconds"]["peers_median"])  # nobody is left
