"""The phases of a demo, each ended by an event and bounded by a deadline."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from sentinel.demo.chain import Chain
from sentinel.demo.progress import Progress, Step
from sentinel.demo.scenario import Expected, Scenario
from sentinel.demo.webhook import DeliveredAlert
from sentinel.errors import SentinelError

__all__ = ["Outcome", "judge", "play"]

_READY_SECONDS = 30.0
_LEARN_SCRAPES = 22  # of one second each: enough ticks of two seconds for every cell
_LEARN_SECONDS = 60.0
_ALERT_SECONDS = 60.0
_RESOLVED_SECONDS = 60.0
_WATCH_SECONDS = 40.0
_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Outcome:
    """What came of a demo. `as_expected` is None for a trace whose right answer nobody told."""

    alerts: list[DeliveredAlert]
    as_expected: bool | None
    summary: str


def play(scenario: Scenario, chain: Chain, progress: Progress) -> Outcome:
    """Run a scenario through a chain that has been started. SentinelError when a part of the chain fails."""
    with progress.step("Waiting for the servers") as step:
        _wait(chain, chain.servers_ready, _READY_SECONDS, step, "the servers did not become ready")
    with progress.step(
        f"Learning what is normal: steps {scenario.healthy} of the trace {scenario.trace_dir.name}"
    ) as step:
        _wait(
            chain,
            lambda: chain.scrapes() >= _LEARN_SCRAPES,
            _LEARN_SECONDS,
            step,
            "Prometheus has not collected enough of the job's metrics",
            detail=lambda: f"{chain.scrapes()} of {_LEARN_SCRAPES} scrapes",
        )
    with progress.step("Building the baseline"):
        for line in chain.build_baseline().splitlines():
            progress.say(f"  {line}")
    with progress.step("Starting the daemon") as step:
        chain.start_daemon()
        _wait(chain, chain.daemon_ready, _READY_SECONDS, step, "the daemon did not become ready")

    switched_at = chain.players.switch("fault")
    if scenario.expects_alert:
        return _await_alert(scenario, chain, progress, switched_at)
    return _watch_for_none(scenario, chain, progress, switched_at)


def _await_alert(scenario: Scenario, chain: Chain, progress: Progress, switched_at: float) -> Outcome:
    webhook = chain.webhook
    with progress.step(f"Playing the fault: {scenario.title} (steps {scenario.fault})") as step:
        fired = _reached(
            chain, lambda: webhook.delivered_at("firing") is not None, _ahead(switched_at) + _ALERT_SECONDS, step
        )
    fired_at = webhook.delivered_at("firing")
    if not fired or fired_at is None:
        why = f"no alert came within {_ALERT_SECONDS:.0f} s of the fault"
        return Outcome(webhook.alerts(), None if scenario.expected == "unknown" else False, why)
    progress.say(f"Alertmanager delivered an alert {fired_at - switched_at:.1f} s after the fault began")

    with progress.step("Playing the healthy steps again, until it is resolved") as step:
        chain.players.switch("healthy")
        resolved = _reached(chain, lambda: _all_resolved(webhook.alerts()), _RESOLVED_SECONDS, step)
    if resolved:
        progress.say("Alertmanager delivered the resolution")
    return judge(scenario, webhook.alerts(), resolved=resolved)


def _watch_for_none(scenario: Scenario, chain: Chain, progress: Progress, switched_at: float) -> Outcome:
    alerts = chain.webhook.alerts
    with progress.step(f"Watching {_WATCH_SECONDS:.0f} s of it: {scenario.title} (steps {scenario.fault})") as step:
        came = _reached(chain, lambda: bool(alerts()), _ahead(switched_at) + _WATCH_SECONDS, step)
    return Outcome(alerts(), not came, "an alert came where none should" if came else "no alert, as it should be")


def judge(scenario: Scenario, alerts: list[DeliveredAlert], *, resolved: bool) -> Outcome:
    """Whether these alerts, and no others, were to come of the scenario. `resolved`: each of them has ended."""
    named = sorted({(alert["labels"]["alertname"], alert["labels"].get("rank", "")) for alert in alerts})
    text = ", ".join(f"{name} for rank {rank}" if rank else name for name, rank in named)
    if not isinstance(scenario.expected, Expected):
        return Outcome(alerts, None, text + (", resolved" if resolved else ", not resolved"))
    expected = scenario.expected
    if named != [(expected.alertname, str(expected.rank))]:
        return Outcome(alerts, False, f"expected {expected.alertname} for rank {expected.rank} alone, came: {text}")
    if expected.tier and any(alert["labels"].get("tier") != expected.tier for alert in alerts):
        return Outcome(alerts, False, f"{text}, but not in tier {expected.tier}")
    if not resolved:
        return Outcome(alerts, False, f"{text}, but not resolved within {_RESOLVED_SECONDS:.0f} s")
    return Outcome(alerts, True, f"{text}, as it should be; resolved after")


def _ahead(moment: float) -> float:
    """Seconds until a Unix time: players switch at the end of an iteration, which may be a while."""
    return max(0.0, moment - time.time())


def _all_resolved(alerts: list[DeliveredAlert]) -> bool:
    """Whether the last word on every alert is that it is over."""
    last = {alert["fingerprint"]: alert["status"] for alert in alerts}
    return bool(last) and all(status == "resolved" for status in last.values())


def _wait(
    chain: Chain,
    condition: Callable[[], bool],
    seconds: float,
    step: Step,
    failure: str,
    detail: Callable[[], str] | None = None,
) -> None:
    if not _reached(chain, condition, seconds, step, detail):
        raise SentinelError(failure, where=str(chain.folder), why=f"waited {seconds:.0f} s", hint=chain.logs())


def _reached(
    chain: Chain,
    condition: Callable[[], bool],
    seconds: float,
    step: Step,
    detail: Callable[[], str] | None = None,
) -> bool:
    """Whether the condition held before the deadline. SentinelError when a part of the chain ended meanwhile."""
    deadline = time.monotonic() + seconds
    while True:
        chain.check()
        if condition():
            return True
        if time.monotonic() > deadline:
            return False
        if detail:
            step.detail(detail())
        time.sleep(_POLL_SECONDS)
