from dataclasses import replace

import pytest
from servers.incidents import CULPRIT, incident

from sentinel.cli.incident_story import incident_story
from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.settings import Settings
from sentinel.model.context import ContextNote, Effect, Silence
from sentinel.model.incident import Incident, Verdict

SETTINGS = Settings(alertmanager=AlertmanagerSettings.model_validate({"urls": ["http://am-0:9093"]}))
CELL = {
    "op": "AllGather",
    "size_bytes": "262144",
    "algo": "RING",
    "proto": "LL",
    "operations": 120,
    "duration_seconds": 0.000849,
    "peers_duration_seconds": 0.00213,
    "lateness_seconds": 0.00132,
    "baseline_lateness_seconds": 0.000045,
    "baseline_spread_seconds": 0.000012,
}
EVIDENCE = {
    "rank_in_communicator": 1,
    "gpu_uuid": "GPU-17",
    "lateness_seconds": 0.00132,
    "duration_seconds": 0.000849,
    "peers_duration_seconds": 0.00213,
    "lost_gpus": 1.71,
    "test": "own history and peers, CUSUM",
    "cusum": 45.1,
    "cusum_threshold": 20.2,
    "sigmas_from_own_history": 12.3,
    "sigmas_from_peers": None,
    "shown_by": "all of its cells together",
    "cells": [CELL],
    "also_late_in": ["00000000000000cc"],
}


def story(told: Incident, settings: Settings = SETTINGS) -> str:
    return "\n".join(incident_story(told, settings, told.started_at + 720.0))


def test_a_late_rank_in_a_screen() -> None:
    assert story(incident(evidence=EVIDENCE)) == (
        """\
Rank 3 (on node0 GPU 3) arrives late at collectives in job 4711

who    rank 3, node node0, GPU 3, GPU-17
       job 4711, communicator dp 00000000000000aa, in which it is rank 1
when   since 2026-11-29T19:36:00.500Z, detected 59.5 s later
       goes on, for 12 min now
cost   9.09% of the job's time, as if 1.71 GPUs did nothing; 7 ranks wait for it
test   own history and peers, CUSUM
       cusum 45.1, cusum threshold 20.2, sigmas from own history 12.3
       shown by all of its cells together

CELL                       COUNT  ITS OWN  PEERS'   LATE BY  NORMALLY  SPREAD
AllGather 256 KiB RING LL  120    849 us   2.13 ms  1.32 ms  45 us     12 us

further evidence
  also late in: 00000000000000cc

alert  NcclRankLate, warning (P1), incident 7611f548bd54
       the daemon sends it every 1m to http://am-0:9093
query  sum by (rank) (rate(nccl_collective_seconds_total{comm="00000000000000aa"}[5m])) / """
        """sum by (rank) (rate(nccl_collective_operations_total{comm="00000000000000aa"}[5m]))
       http://127.0.0.1:9090/graph?"""
        "g0.expr=sum+by+%28rank%29+%28rate%28nccl_collective_seconds_total%7Bcomm%3D%2200000000000000aa%22%7D%5B5m%5D"
        "%29%29+%2F+sum+by+%28rank%29+%28rate%28nccl_collective_operations_total%7Bcomm%3D%2200000000000000aa%22%7D"
        "%5B5m%5D%29%29&g0.tab=0&g0.range_input=1h"
    )


def test_a_stall_that_is_over() -> None:
    culprit = replace(CULPRIT, verdict=Verdict.STALLED, ranks=(), node="", gpu="", job_id="", comm_name="")
    evidence = {"reason": "nobody stands out", "stalled_seconds": 90.0, "waiting_ranks": list(range(8192))}
    over = incident(evidence=evidence, victims=1, ended_at=incident().started_at + 240.0)
    text = story(replace(over, culprit=culprit), Settings(alertmanager=AlertmanagerSettings(urls=())))
    assert "who    no rank stands out\n       communicator 00000000000000aa\n" in text
    assert "       ended 2026-11-29T19:40:00.500Z, after 4 min\n" in text
    assert "1 rank waits for it" in text
    assert "test   nobody stands out\n" in text
    assert "  stalled: 90 s\n  waiting ranks: 0-8191\n" in text
    assert "no Alertmanager is configured" in text


@pytest.mark.parametrize("verdict", list(Verdict))
def test_no_key_is_lost_whatever_the_verdict(verdict: Verdict) -> None:
    evidence = {
        "test": {"not": "text"},
        "cells": [{"peer": 12}],
        "lost_gpus": "few",
        "cusum": [1, 2],
        "wire_seconds_per_byte": 1e-9,
        "links": [{"peer": 4, "wire_seconds": 0.002}],
        "nested": {"deep": {"deeper": 1}},
        "mixed": [{"a": 1}, 2],
    }
    text = story(replace(incident(evidence=evidence), culprit=replace(CULPRIT, verdict=verdict)))
    for said in ("{'not': 'text'}", "PEER\n12", "few", "1-2", "1e-09", "2 ms", "deeper: 1", "{'a': 1}, 2"):
        assert said in text


def test_a_terminal_is_not_moved_by_names() -> None:
    culprit = replace(CULPRIT, comm_name="\x1b[2Jdp\n", node="a\rb")
    text = story(replace(incident(evidence={"k": "\x1b]0;x\x07"}), culprit=culprit))
    assert not set(text) & {"\x1b", "\r", "\x07"}
    assert "communicator [2Jdp 00000000000000aa" in text


def test_what_others_say_and_who_has_silenced_it() -> None:
    began = incident().started_at
    notes = (
        ContextNote(Effect.FREEZE, {"alertname": "NodeDown", "node": "n1", "odd": "\x1b[2J"}, began - 60.0),
        ContextNote(Effect.NOTE, {"node": "n1"}, began - 60.0, began),
    )
    silences = (Silence("5e1f", "ops", "swap the fan", began + 900.0), Silence("77", "ali", "later", began))
    text = story(incident(context=notes, silenced_by=silences))
    assert (
        'known  NodeDown (freeze), since 2026-11-29T19:35:00.500Z, fires\n         node="n1", odd="[2J"\n'
        "       an alert without a name (note), since 2026-11-29T19:35:00.500Z, ended 2026-11-29T19:36:00.500Z\n"
    ) in text
    assert "muted  until 2026-11-29T19:51:00.500Z by ops: swap the fan\n         silence 5e1f\n" in text
    assert "       was until 2026-11-29T19:36:00.500Z by ali: later\n" in text
