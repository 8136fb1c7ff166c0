"""A daemon in this process, at the tick of our choice, between a real store and real Alertmanagers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from faults.history import FIRST, RESEND, TICK_SECONDS, History

from sentinel.config.settings import Settings
from sentinel.daemon.clock import SteadyClock
from sentinel.daemon.cycle import Report
from sentinel.daemon.front import Front
from sentinel.daemon.tally import Tally
from sentinel.daemon.watch import Watch

LATE_SECONDS = 5.3
"""After its instant, a tick runs."""


class Station:
    """`now` is the true time; the machine's clock is `clock_error_seconds` ahead of it."""

    def __init__(
        self, directory: Path, history: History, store: str, replicas: Sequence[str], name: str, **sections: Any
    ) -> None:
        self.history = history
        self.settings = make_settings(directory, store, replicas, name, **sections)
        self.tally = Tally()
        self.tick = FIRST - 1
        self.now = history.instant(self.tick) + LATE_SECONDS
        self.clock_error_seconds = 0.0
        self.watch: Watch | None = None
        self.front: Front | None = None
        self.reports: dict[int, Report] = {}

    def open(self) -> None:
        """Start, as a new process does."""
        clock = SteadyClock(lambda: self.now + self.clock_error_seconds, lambda: self.now)
        self.watch = Watch(self.settings, self.tally, clock, self.front)
        self.watch.begin()

    def close(self) -> None:
        if self.watch is not None:
            self.watch.finish()
        self.watch = None

    def run_to(self, last: int) -> Report:
        """Every tick up to and with that one."""
        assert self.watch is not None
        report = Report(())
        while self.tick < last:
            self.tick += 1
            self.now = self.history.instant(self.tick) + LATE_SECONDS
            report = self.watch.run()
            errors = self.watch.settle()
            report = Report(report.open_incidents, report.error or next(iter(errors), None))
            self.reports[self.tick] = report
        return report

    def pass_to(self, last: int) -> None:
        """Time passes, and no tick runs."""
        self.tick = last
        self.now = self.history.instant(self.tick) + LATE_SECONDS


def make_settings(directory: Path, store: str, replicas: Sequence[str], name: str, **sections: Any) -> Settings:
    document: dict[str, Any] = {
        "prometheus": {"url": store, "timeout": "10s", "retries": 0},
        "alertmanager": {"urls": list(replicas), "resend": RESEND, "external_labels": {"fault": name}},
        "schedule": {"tick": f"{TICK_SECONDS}s", "evaluation_delay": "5s"},
        "state": {"directory": directory / "state"},
        "web": {"listen_address": "127.0.0.1:0"},
        "log": {"level": "error"},
    }
    for section, keys in sections.items():
        document[section] = {**document[section], **keys}
    return Settings.model_validate(document)
