"""Stretches of history measured by the workers of a Dask cluster: the same code, and the same bytes, as here."""

import logging
import pickle
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sentinel import __version__
from sentinel.baseline.measured import ALGORITHM, MeasuredStretch
from sentinel.config.prometheus import PrometheusSettings
from sentinel.daemon.measuring import Measuring, Task, measure_stretch
from sentinel.errors import ConfigError, SourceError
from sentinel.source.interface import Scope
from sentinel.source.opening import open_source

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["measure_on_workers"]

_CONNECT_SECONDS = 10.0
_LOOK_SECONDS = 5.0  # between two looks at whether anybody works
_PATIENCE_SECONDS = 600.0  # without any worker: some clusters start them when there is work
_AHEAD = 2  # tasks for each thread: the next is there when one is done; more would only be results that wait

_Version = tuple[str, int]


@contextmanager
def measure_on_workers(address: str, settings: PrometheusSettings) -> Iterator[Measuring]:
    """A `Measuring` on the cluster whose scheduler has this address (`tcp://host:8786`; `tls://…` as Dask is set up).

    Workers need this version of the package, the Prometheus of `settings` within reach, and the files that it names in
    the same places. One that dies loses what it was at, and another does that again. ConfigError where Dask is not
    installed, here or this package there, or an address is none; SourceError where the cluster cannot be reached, or
    gives up.
    """
    try:
        from distributed import Client
    except ImportError as error:
        hint = "Install it: pip install 'nccl-sentinel[dask]'."
        raise ConfigError("no Dask here", where="--dask", why=str(error), hint=hint) from None
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what is wrong is said once, as an error of ours
    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise SourceError("cannot reach the Dask scheduler", where=address, why=_reason(error)) from error
    except ValueError as error:
        raise ConfigError("no address of a Dask scheduler", where=address, why=_reason(error)) from error
    with client:
        yield lambda tasks, progress: _measured(client, address, settings, tasks, progress)


def _measured(
    client: "Client",
    address: str,
    settings: PrometheusSettings,
    tasks: Sequence[Task],
    progress: Callable[[int], None],
) -> Iterator[tuple[Task, MeasuredStretch]]:
    waiting, under_way, run = deque(tasks), dict["Future[MeasuredStretch]", Task](), _on_worker()
    seen_at = time.monotonic()
    while waiting or under_way:
        with _explained(address):
            threads = sum(client.nthreads().values())
            seen_at = time.monotonic() if threads else seen_at
            if time.monotonic() - seen_at > _PATIENCE_SECONDS:
                raise TimeoutError(f"it has had no worker for {_PATIENCE_SECONDS:g} s")
            while waiting and len(under_way) < _AHEAD * max(1, threads):
                task = waiting.popleft()
                asked = pickle.dumps((_measure, settings, task))
                under_way[client.submit(run, (__version__, ALGORITHM), asked, pure=False)] = task
            done = _finished(client, under_way)
        progress(0)
        for future in done:
            with _explained(address):
                measured = future.result()
                future.release()
            task = under_way.pop(future)
            progress(task.stretch.windows)
            yield task, measured


def _finished(client: "Client", futures: Collection["Future[MeasuredStretch]"]) -> "list[Future[MeasuredStretch]]":
    """Those that are done as soon as one is; none where that takes long."""
    from distributed import wait

    try:
        with client.as_current():
            return list(wait(list(futures), timeout=_LOOK_SECONDS, return_when="FIRST_COMPLETED").done)
    except TimeoutError:
        return []


def _on_worker() -> Callable[[_Version, bytes], MeasuredStretch]:
    """What runs in a worker. It is sent as it stands, not by its name: where this package is missing it can say so."""

    def run(version: _Version, asked: bytes) -> "MeasuredStretch":  # a name, or it would be sent as well
        import pickle

        from sentinel import __version__
        from sentinel.baseline.measured import ALGORITHM

        if version != (__version__, ALGORITHM):
            raise ImportError(f"it has nccl-sentinel {__version__} ({ALGORITHM}), not {version[0]} ({version[1]})")
        measure, settings, task = pickle.loads(asked)  # noqa: S301 (whoever may submit may run anything)
        measured: MeasuredStretch = measure(settings, task)
        return measured

    return run


def _measure(settings: PrometheusSettings, task: Task) -> MeasuredStretch:
    with open_source(settings, scope=Scope.COLLECTIVES) as source:
        return measure_stretch(source, task, lambda _: None)


@contextmanager
def _explained(address: str) -> Iterator[None]:
    from distributed import CancelledError, KilledWorker

    kept = "What is done is kept: the same command goes on from there."
    try:
        yield
    except ImportError as error:
        hint = f"Install nccl-sentinel {__version__} on all workers. {kept}"
        raise ConfigError("a Dask worker cannot measure", where=address, why=_reason(error), hint=hint) from error
    except KilledWorker as error:
        raise SourceError("the Dask cluster gave up", where=address, why=_reason(error), hint=kept) from error
    except (CancelledError, OSError) as error:
        raise SourceError("the Dask cluster failed", where=address, why=_reason(error), hint=kept) from error


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
