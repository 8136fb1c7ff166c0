"""The daemon's own metrics, as they are at this moment."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nccl_endpoint.access import REFUSALS, Access

from sentinel import __version__
from sentinel.config.settings import Settings
from sentinel.daemon.tally import Tally
from sentinel.history.recorder import DROP_REASONS as DROP_REASONS_OF_HISTORY
from sentinel.model.context import Effect
from sentinel.model.incident import Tier, Verdict
from sentinel.sink.interface import Receipt
from sentinel.state.database import FILE_NAME
from sentinel.state.tick import Outcome
from sentinel.web import catalogue
from sentinel.web.context import DROP_REASONS, Context
from sentinel.web.sample import Sample
from sentinel.web.webhook import WEBHOOK_CODES, Webhook

__all__ = ["Figures"]


@dataclass
class Figures:
    """Read by the web server's threads.

    Every series whose labels are known is there from the start, and a time that has not come is 0: what never happened
    must not be what no alert can see.
    """

    settings: Settings  # in force
    instance: str
    tally: Tally
    webhook: Webhook
    context: Context
    access: Access = field(default_factory=Access)

    def samples(self, now: float) -> Iterator[Sample]:
        """All of them, at the Unix time `now`."""
        yield catalogue.BUILD_INFO, (__version__, self.instance), 1
        yield from self._ticks()
        yield from self._alerts()
        yield from self._web(now)
        yield from self._findings()
        yield from self._configuration()
        yield catalogue.STATE_BYTES, (), _state_bytes(self.settings.state.directory)
        yield catalogue.STATE_ERRORS, (), self.tally.state_errors
        for reason in DROP_REASONS_OF_HISTORY:
            yield catalogue.HISTORY_DROPPED, (reason,), self.tally.history_dropped[reason]

    def _ticks(self) -> Iterator[Sample]:
        tally = self.tally
        for each in Outcome:
            yield catalogue.TICKS, (each.value,), tally.ticks[each]
        yield catalogue.TICK_DURATION, (), tally.tick_seconds
        yield catalogue.LAST_TICK, (), tally.last_good.instant if tally.last_good else 0.0
        yield catalogue.TICK_INTERVAL, (), tally.tick_interval_seconds
        yield catalogue.RUNS_MISSED, (), tally.runs_missed
        yield catalogue.RUNS_SKIPPED, (), tally.runs_skipped
        yield catalogue.CAUGHT_UP, (), tally.instants_caught_up
        yield catalogue.GIVEN_UP, (), tally.instants_given_up
        yield catalogue.PARTIAL, (), tally.partial_snapshots
        yield catalogue.MALFORMED, (), tally.malformed_series
        for outcome in ("ok", "error"):
            yield catalogue.SOURCE_REQUESTS, (outcome,), tally.source_requests[outcome]
        yield catalogue.SOURCE_DURATION, (), tally.source_request_seconds

    def _alerts(self) -> Iterator[Sample]:
        for url in self.settings.alertmanager.urls:
            for receipt in Receipt:
                yield catalogue.DELIVERIES, (url, receipt.value), self.tally.deliveries[url, receipt]
            yield catalogue.DELIVERED, (url,), self.tally.delivered_at.get(url, 0.0)
        for outcome in ("ok", "error"):
            yield catalogue.SILENCE_READS, (outcome,), self.tally.silence_reads[outcome]
        if not self.settings.alertmanager.heartbeat:
            return  # what was never asked for is not missing
        yield catalogue.HEARTBEAT_SENT, (), self.tally.heartbeat_sent_at or 0.0
        yield catalogue.HEARTBEAT_RECEIVED, (), self.webhook.heartbeat_received_at or 0.0

    def _web(self, now: float) -> Iterator[Sample]:
        codes, dropped, refused = self.webhook.codes(), self.context.dropped(), self.access.refused
        for code in WEBHOOK_CODES:
            yield catalogue.WEBHOOK_REQUESTS, (str(code),), codes[code]
        yield catalogue.CONTEXT_ALERTS, (), len(self.context.firing(now))
        for effect in ("none", *Effect):
            yield catalogue.CONTEXT_EFFECTS, (str(effect),), self.tally.context_effects.get(effect, 0)
        for reason in DROP_REASONS:
            yield catalogue.CONTEXT_DROPPED, (reason,), dropped[reason]
        for reason in REFUSALS:
            yield catalogue.WEB_REFUSED, (reason,), refused[reason]
        yield catalogue.WEB_RELOAD, (), int(self.access.reload_succeeded)

    def _findings(self) -> Iterator[Sample]:
        going_on = self.tally.open_incidents
        for verdict in Verdict:
            yield catalogue.OPENED, (verdict.value,), self.tally.opened[verdict]
            yield catalogue.SILENCED, (verdict.value,), self.tally.silenced[verdict]
            for tier in Tier:
                yield catalogue.INCIDENTS, (verdict.value, tier.value), going_on.get((verdict, tier), 0)
        for state, count in self.tally.communicators.items():
            yield catalogue.COMMUNICATORS, (state,), count

    def _configuration(self) -> Iterator[Sample]:
        tally = self.tally
        for outcome in ("taken", "refused"):
            yield catalogue.RELOADS, (outcome,), tally.reloads[outcome]
        yield catalogue.RELOAD_SUCCESSFUL, (), int(tally.reload_succeeded)
        yield catalogue.RELOAD_SUCCESS, (), tally.reloaded_at or 0.0
        yield catalogue.BASELINE_BUILT, (), tally.baseline_built_at or 0.0


def _state_bytes(directory: Path) -> int:
    total = 0
    for suffix in ("", "-wal"):
        try:
            total += (directory / f"{FILE_NAME}{suffix}").stat().st_size
        except OSError:  # the log is gone while nothing is in it
            continue
    return total
