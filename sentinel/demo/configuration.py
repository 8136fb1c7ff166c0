"""The configuration files of the demo's servers."""

from pathlib import Path

__all__ = ["alertmanager_yaml", "daemon_toml", "prometheus_yaml"]


def prometheus_yaml(exporter_port: int) -> str:
    """Scrape the exporter every second."""
    return f"""\
global:
  scrape_interval: 1s
  scrape_timeout: 1s
scrape_configs:
  - job_name: nccl
    static_configs:
      - targets: ["127.0.0.1:{exporter_port}"]
"""


def alertmanager_yaml(webhook_url: str) -> str:
    """Incidents without delay to the demo's webhook; the daemon's heartbeat to nobody."""
    return f"""\
route:
  receiver: demo
  group_by: ["..."]
  group_wait: 0s
  group_interval: 1s
  repeat_interval: 1h
  routes:
    - matchers: ['heartbeat="true"']
      receiver: nobody
receivers:
  - name: nobody
  - name: demo
    webhook_configs:
      - url: {webhook_url}
        send_resolved: true
"""


def daemon_toml(prometheus_url: str, alertmanager_url: str, address: str, state_dir: Path, stall_after: str) -> str:
    """A quick daemon: the defaults wait longer, for jobs that run for days."""
    return f"""\
[prometheus]
url = "{prometheus_url}"
timeout = "5s"

[alertmanager]
urls = ["{alertmanager_url}"]
resend = "5s"

[schedule]
tick = "2s"
evaluation_delay = "1s"

[detection.stalled]
stall_after = "{stall_after}"

[detection.baseline]
warm_up = "5s"

[state]
directory = "{state_dir}"

[web]
listen_address = "{address}"
"""
