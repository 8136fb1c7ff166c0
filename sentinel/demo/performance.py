"""One demo from beginning to end, in a folder that is gone afterwards."""

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from rich.console import Console

from sentinel.demo.chain import Chain
from sentinel.demo.course import Outcome, play
from sentinel.demo.progress import Progress
from sentinel.demo.scenario import Scenario
from sentinel.demo.webhook import DeliveredAlert

__all__ = ["perform"]

_POLL_SECONDS = 0.5


def perform(
    scenario: Scenario, *, console: Console, report: Callable[[list[DeliveredAlert]], None], keep: bool
) -> Outcome:
    """Play a scenario: progress goes to `console`, and at the end the alerts that came to `report`.

    With `keep`, everything goes on after the last phase until Ctrl-C or SIGTERM. Whatever ends the demo, its processes
    are stopped and its folder is removed. SentinelError when a part of the chain is missing or fails.
    """
    progress = Progress(console)
    with (
        _signals_unwind(),
        tempfile.TemporaryDirectory(prefix="sentinel-demo-") as name,
        Chain(scenario, Path(name)) as chain,
    ):
        progress.say(f"Prometheus {chain.prometheus_url}  Alertmanager {chain.alertmanager_url}  in {name}")
        outcome = play(scenario, chain, progress)
        progress.say(f"Result: {outcome.summary}")
        report(outcome.alerts)
        if keep:
            _hold(chain, progress)
        return outcome


def _hold(chain: Chain, progress: Progress) -> None:
    stop = chain.folder / "stop"
    stop.write_text(f"#!/bin/sh\nkill {os.getpid()}\n")
    stop.chmod(0o755)
    config, sentinel = chain.folder / "sentinel.toml", chain.sentinel
    progress.say("Everything goes on running. Look around:")
    for what, where in (
        ("page", f"{chain.daemon_url}/"),
        ("metrics", f"{chain.exporter_url}/metrics"),
        ("series", f"{chain.prometheus_url}/graph?g0.expr=nccl_collective_seconds_total"),
        ("alerts", f"{chain.alertmanager_url}/api/v2/alerts"),
        ("daemon", f"{sentinel} status --config {config}"),
        ("why", f"{sentinel} explain ID --config {config}   (status lists the IDs)"),
        ("logs", f"{chain.folder}/*.log"),
        ("stop", f"Ctrl-C, or {stop}"),
    ):
        progress.say(f"  {what:8} {where}")
    try:
        while True:
            chain.check()
            time.sleep(_POLL_SECONDS)
    except (KeyboardInterrupt, SystemExit):
        progress.say("Stopping")


@contextmanager
def _signals_unwind() -> Iterator[None]:
    """Let SIGTERM and SIGINT unwind the stack, so that everything is cleaned up.

    SIGINT as well: a shell starts what it puts in the background with SIGINT ignored, and Python leaves that so.
    """

    def leave(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    handlers = {signal.SIGTERM: leave, signal.SIGINT: signal.default_int_handler}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
