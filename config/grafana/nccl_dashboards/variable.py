# SPDX-License-Identifier: Apache-2.0
"""The variables at the top of a dashboard."""

from typing import Any, Final

from nccl_exporter.catalogue import BUILD_INFO, COMMUNICATOR_INFO, STARTED

from nccl_dashboards.panel import DATASOURCE
from sentinel.web.catalogue import BUILD_INFO as DAEMON_BUILD_INFO

__all__ = ["COMMUNICATOR", "INSTANCE", "JOB", "OPERATION", "SCRAPE_JOB", "SOURCE"]

Json = dict[str, Any]


def _choice(name: str, label: str, query: str, every: str) -> Json:
    """One or more values of a label, or all: then matchers say `every`."""
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": DATASOURCE,
        "definition": query,
        "query": {"query": query, "refId": "StandardVariableQuery"},
        "regex": "",
        "refresh": 2,  # with the time range: communicators come and go
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": every,
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "options": [],
        "hide": 0,
        "skipUrlSync": False,
    }


SOURCE: Final[Json] = {
    "name": "datasource",
    "label": "Data source",
    "type": "datasource",
    "query": "prometheus",
    "regex": "",
    "refresh": 1,
    "multi": False,
    "includeAll": False,
    "current": {},
    "options": [],
    "hide": 0,
    "skipUrlSync": False,
}
# A job may say no id: All matches it as well.
JOB: Final = _choice("job_id", "Job", f"label_values({COMMUNICATOR_INFO.name}, job_id)", ".*")
COMMUNICATOR: Final = _choice(
    "comm", "Communicator", f'label_values({COMMUNICATOR_INFO.name}{{job_id=~"$job_id"}}, comm)', ".*"
)
OPERATION: Final = _choice("op", "Operation", f'label_values({STARTED.name}{{comm=~"$comm"}}, op)', ".+")
SCRAPE_JOB: Final = _choice(
    "job", "Job", f'label_values({{__name__=~"{BUILD_INFO.name}|{DAEMON_BUILD_INFO.name}"}}, job)', ".+"
)
INSTANCE: Final = _choice(
    "instance",
    "Instance",
    f'label_values({{__name__=~"{BUILD_INFO.name}|{DAEMON_BUILD_INFO.name}", job=~"$job"}}, instance)',
    ".+",
)
