"""Real Alertmanagers that route everything to a webhook."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from servers.process import find_program, free_port, running


@contextmanager
def alertmanager(
    directory: Path, webhook_url: str, port: int | None = None, options: str = "", group_interval: str = "1s"
) -> Iterator[str]:
    """Run one on `port` (a free one when not given). It notifies at once, of resolved alerts too. Gives its address.

    `options` are more keys of the webhook's configuration, as YAML's {} has them.
    """
    directory.mkdir(parents=True, exist_ok=True)
    config = directory / "alertmanager.yml"
    more = f", {options}" if options else ""
    config.write_text(
        "route: {receiver: test, group_by: ['...'], group_wait: 0s, "
        f"group_interval: {group_interval}, repeat_interval: 1h}}\n"
        f"receivers: [{{name: test, webhook_configs: [{{url: '{webhook_url}', send_resolved: true{more}}}]}}]\n"
    )
    url = f"http://127.0.0.1:{port or free_port()}"
    arguments = [
        find_program("alertmanager", "prometheus-alertmanager"),
        f"--config.file={config}",
        f"--storage.path={directory / 'data'}",
        f"--web.listen-address={url.removeprefix('http://')}",
        "--cluster.listen-address=",
    ]
    with running(arguments, directory, f"{url}/-/ready"):
        yield url
