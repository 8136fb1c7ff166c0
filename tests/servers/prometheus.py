"""Real Prometheus servers, filled from OpenMetrics text or by scraping."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from servers.process import find_program, free_port, running


def fill(directory: Path, openmetrics: str) -> None:
    """Write history into a Prometheus data directory. The text has timestamps in seconds, and ends with `# EOF`."""
    directory.mkdir(parents=True, exist_ok=True)
    text = directory / "history.om"
    text.write_text(openmetrics)
    subprocess.run(
        [find_program("promtool"), "tsdb", "create-blocks-from", "openmetrics", str(text), str(directory / "data")],
        check=True,
        capture_output=True,
    )


@contextmanager
def prometheus(
    directory: Path,
    targets: Sequence[str] = (),
    scrape_interval: str = "1s",
    flags: Sequence[str] = (),
    options: str = "",
    port: int | None = None,
) -> Iterator[str]:
    """Run Prometheus on `directory`/data and `port` (a free one when not given), scraping `targets` (host:port).

    Gives its address.

    `options` are more keys of the scrape configuration, as YAML's {} has them.
    """
    directory.mkdir(parents=True, exist_ok=True)
    config = directory / "prometheus.yml"
    static = f"[{{targets: {list(targets)!r}}}]"
    config.write_text(
        f"global: {{scrape_interval: {scrape_interval}, scrape_timeout: {scrape_interval}}}\n"
        f"scrape_configs: [{{job_name: nccl, static_configs: {static}{', ' * bool(options)}{options}}}]\n"
    )
    url = f"http://127.0.0.1:{port or free_port()}"
    arguments = [
        find_program("prometheus"),
        f"--config.file={config}",
        f"--storage.tsdb.path={directory / 'data'}",
        f"--web.listen-address={url.removeprefix('http://')}",
        "--storage.tsdb.retention.time=10y",
        "--log.level=warn",
        *flags,
    ]
    with running(arguments, directory, f"{url}/-/ready"):
        yield url
