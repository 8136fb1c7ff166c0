# SPDX-License-Identifier: Apache-2.0
"""The web configuration in force: read again when a file of it changes, kept when the new one is bad."""

import logging
import threading
from collections import Counter
from pathlib import Path
from typing import Final

from nccl_endpoint.configuration import WebConfig, load
from nccl_endpoint.document import Watch
from nccl_endpoint.errors import WebConfigError

_log = logging.getLogger(__name__)

REFUSALS: Final = ("handshake", "certificate", "credentials", "rate", "busy")


class Access:
    """Who may connect and ask, and how; for many threads. Raises WebConfigError when the file is bad from the start."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._watch = Watch()
        self._config = load(file, self._watch) if file else WebConfig()
        self._refused: Counter[str] = Counter()
        self.reload_succeeded = True

    def current(self) -> WebConfig:
        """The configuration for the next connection or request."""
        if self._file is None:
            return self._config
        with self._lock:
            if self._watch.changed():
                self._reload(self._file)
            return self._config

    def refuse(self, reason: str) -> None:
        """Count a connection or a request that was not let in; `reason` is one of REFUSALS."""
        with self._lock:
            self._refused[reason] += 1

    @property
    def refused(self) -> Counter[str]:
        """What was not let in, by reason, since the start."""
        with self._lock:
            return self._refused.copy()

    def _reload(self, file: Path) -> None:
        self._watch = Watch()
        try:
            config = load(file, self._watch)
            self._keep_closed(file, config)
        except WebConfigError as error:
            self.reload_succeeded = False
            _log.error("the web configuration stays as it was: %s", error)
        else:
            self._config = config
            self.reload_succeeded = True
            _log.info("the web configuration was read again: %s", file)

    def _keep_closed(self, file: Path, config: WebConfig) -> None:
        # A file that is just being written is empty for a moment.
        for key, old, new in (
            ("tls_server_config", self._config.tls, config.tls),
            ("basic_auth_users", self._config.users, config.users),
        ):
            if old is not None and new is None:
                raise WebConfigError(
                    file, key, why="it is gone, and would open what was protected", hint="Restart to serve without it"
                )
