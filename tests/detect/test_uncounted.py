"""What nobody counted is not in the evidence."""

from sentinel.detect.uncounted import without_counts
from sentinel.model.incident import Culprit, Finding, Verdict


def test_made_up_numbers_are_left_out_at_every_depth() -> None:
    culprit = Culprit(Verdict.LATE_RANK, "j", "j", "c", "", (1 << 30,), "n", "0")
    evidence = {
        "rank_in_communicator": 3,
        "lost_gpus": 2.0,
        "lateness_seconds": 0.001,
        "cells": [{"op": "AllReduce", "operations": 9, "lateness_seconds": 0.001}],
        "late_because_of_it": {"ranks": 2, "first_ranks": [1 << 30]},
        "earlier": {"rank": 1 << 30, "node": "n"},
    }
    found = without_counts(Finding(culprit, 0.1, 0.0, 7, evidence))
    assert found.evidence == {
        "lateness_seconds": 0.001,
        "cells": [{"op": "AllReduce", "lateness_seconds": 0.001}],
        "late_because_of_it": {"ranks": 2},
        "earlier": {"node": "n"},
        "cost_is_of": "the time inside its communicator's collectives",
    }
    assert (found.culprit, found.cost_ratio, found.victims) == (culprit, 0.1, 7)
