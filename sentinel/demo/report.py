"""The alert as Alertmanager delivered it, for a person to read."""

from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from sentinel.demo.webhook import DeliveredAlert

__all__ = ["print_alerts"]


def print_alerts(console: Console, alerts: list[DeliveredAlert]) -> None:
    """Print each alert once, as it fired, and whether it was resolved.

    Lines are not broken, since people copy addresses from them.
    """
    ended = {alert["fingerprint"]: alert["endsAt"] for alert in alerts if alert["status"] == "resolved"}
    shown: set[str] = set()
    for alert in alerts:
        fingerprint = alert["fingerprint"]
        if fingerprint in shown:
            continue
        shown.add(fingerprint)
        labels = dict(alert["labels"])
        console.print(Text(labels.pop("alertname", "alert"), style="bold"))
        _print(console, "labels", labels)
        _print(console, "annotations", alert["annotations"])
        _print(console, "times", {"startsAt": alert["startsAt"], "resolved": ended.get(fingerprint, "not yet")})
        _print(console, "link", {"generatorURL": alert["generatorURL"]})


def _print(console: Console, heading: str, values: Mapping[str, str]) -> None:
    for name, value in values.items():
        line = Text.assemble((f"  {heading:12}", "dim"), f"{name:14} ", value)
        console.print(line, soft_wrap=True, highlight=False)
        heading = ""
