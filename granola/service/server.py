"""gunicorn with its own ASGI worker, told what the service needs: when a worker is ready, well, or has to go.

gunicorn decides about processes and connections. A worker opens the snapshot before it takes requests, looks once a
second whether another has been put into its place, and ends where it holds too much memory or a thread goes on and on.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter

from granola.errors import UsageError
from granola.service.application import create_app
from granola.service.gate import Gate
from granola.service.served import Service
from granola.service.service_figures import Metrics, SharedFigures
from granola.service.service_settings import MIB, ServiceSettings
from granola.service.work.snapshot_session import SnapshotSession
from granola.service.work.workroom import ROOMS
from kg.store import is_address

BACKLOG = 1024
IDLE = 5  # seconds that a connection may wait for its next request; so long a service that ends may wait for it
GRACE = 25  # seconds that requests under way have when the service ends
SWITCH_SECONDS = 0.002  # how long answers may wait for the thread that makes ladders; less costs more switches
COLLECTED = (20_000, 20, 100)  # what is read of a snapshot stays, and looking it through takes a tenth of a second
LOOK_SECONDS, TICK_SECONDS = 1.0, 0.05
LONGEST_PAUSE = 30.0  # seconds between two tries to open a snapshot
log = logging.getLogger("granola.service")


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises UsageError where that cannot be."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        why = f"{error.strerror or error}".partition(" (while")[0]
        place = f"{host}, port {port}"
        raise UsageError(f"cannot listen at {place}: {why}; give another --port, or 0 for a free one") from error


def run(settings: ServiceSettings, sock: socket.socket, *, workers: int, ready: Callable[[], None]) -> None:
    """Serve until told to stop, and exit. `ready` is called once, by the first worker that answers requests."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*COLLECTED)
    if not is_address(settings.snapshot):
        SnapshotSession(settings).prepared().close()  # what workers then have from the beginning, in shared memory
    gc.collect()
    gc.freeze()  # what is there now stays: it is not looked through again and again
    _Arbiter(_Application(settings, sock, workers, ready)).run()


class _Arbiter(Arbiter):  # type: ignore[misc]  # the library has no types
    """gunicorn's, for which SIGHUP means nothing: a snapshot that is replaced is seen by the workers."""

    def handle_hup(self) -> None:
        """Start no other workers: they might find a snapshot that cannot be opened, and these are well."""


class _Application(BaseApplication):  # type: ignore[misc]  # the library has no types
    """gunicorn's settings and hooks, and the application that is loaded once and runs in each worker."""

    def __init__(self, settings: ServiceSettings, sock: socket.socket, workers: int, ready: Callable[[], None]) -> None:
        self._settings = settings
        self._sock = sock
        self._workers = workers
        self._ready = ready
        self._shared = SharedFigures(workers)
        self._metrics = Metrics(self._shared)
        self._service = Service(settings, self._metrics)
        self._task: asyncio.Task[None]  # of a worker, held on to
        super().__init__()

    def load_config(self) -> None:
        """See `BaseApplication.load_config`."""
        own = {
            "bind": f"fd://{self._sock.fileno()}", "worker_class": "asgi", "workers": self._workers, "backlog": BACKLOG,
            "timeout": max(1, round(self._settings.hang_seconds)), "graceful_timeout": GRACE, "keepalive": IDLE,
            "preload_app": True, "loglevel": "error", "control_socket_disable": True, "asgi_lifespan": "off",
            "limit_request_line": 8190, "limit_request_fields": 100, "limit_request_field_size": 8190,
            "worker_tmp_dir": "/dev/shm" if os.access("/dev/shm", os.W_OK) else None,  # heartbeats fill no disk
            "pre_fork": self._before_fork, "post_worker_init": self._begin, "child_exit": self._after_exit,
            "worker_exit": lambda _, worker: self._service.snapshots.close(),
        }  # fmt: skip
        for name, value in own.items():
            self.cfg.set(name, value)

    def load(self) -> Gate:
        """See `BaseApplication.load`."""
        return create_app(self._service)

    def _before_fork(self, arbiter: Any, worker: Any) -> None:
        """Give a worker a place of its own among the figures."""
        taken = {other.place for other in arbiter.WORKERS.values()}
        worker.place = min(set(range(self._workers)) - taken, default=self._workers - 1)

    def _begin(self, worker: Any) -> None:
        """A worker's beginning, before it takes requests: the snapshot is opened. Exits where it cannot be."""
        worker.notify()  # without a first sign, gunicorn would never replace a worker that hangs
        self._metrics.take_place(worker.place)
        try:
            worker.loop.run_until_complete(self._open(worker))
        except Exception as error:
            log.error("the snapshot cannot be opened: %s", error)
            raise SystemExit(Arbiter.WORKER_BOOT_ERROR) from None

    def _after_exit(self, _: Any, worker: Any) -> None:
        """Count a worker that is to be replaced."""
        self._shared.serve(worker.place, False)
        self._metrics.count("granola_workers_replaced_total", "reason", "hung" if worker.aborted else "ended")
        self._metrics.share()

    async def _open(self, worker: Any) -> None:
        """Open the snapshot, and let gunicorn hear of the worker meanwhile. Raises what opening it raises."""
        self._service.open_rooms()
        self._task = asyncio.create_task(self._work(worker))
        while not self._service.snapshots.is_open and not self._task.done():
            await asyncio.wait([self._task], timeout=TICK_SECONDS)
            worker.notify()
            if not worker.alive:
                raise SystemExit(0)
            if self._shared.was_ready and not self._shared.serving:
                return  # take requests: nobody else could tell that the service is not well
        if self._task.done():
            self._task.result()

    async def _work(self, worker: Any) -> None:
        """Open the snapshot, and look after it and this worker once a second.

        A snapshot that was open before, in other workers, is tried until it can be opened.
        """
        service, pause = self._service, 1.0
        while not service.snapshots.is_open:
            try:
                await service.snapshots.open()
            except Exception as error:
                if not self._shared.was_ready:
                    raise
                log.error("worker %d cannot open the snapshot, and tries again in %g s: %s", os.getpid(), pause, error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
        gc.collect()
        gc.freeze()
        self._shared.serve(worker.place, True)
        if not self._shared.was_ready:
            self._shared.set_ready()
            self._ready()
        is_fresh, why, most = True, "", 0
        while not why:
            if is_fresh:
                service.metrics.serves(service.snapshots.current.snapshot_id)
                most = max(service.settings.memory, 2 * own_memory())
            await asyncio.sleep(LOOK_SECONDS)
            is_fresh = await service.snapshots.look()
            service.metrics.gauge("granola_waiting", service.snapshots.current.reader.waiting)
            service.metrics.gauge("granola_connections", worker.nr_conns)
            service.metrics.share()
            why = self._fault(most)
        log.error("worker %d ends when it has answered what it has begun, and is replaced: %s", os.getpid(), why)
        worker.cfg.set("graceful_timeout", int(service.settings.seconds) + 2)
        self._shared.serve(worker.place, False)
        os.kill(os.getpid(), signal.SIGTERM)

    def _fault(self, most: int) -> str:
        """Why this worker has to go; empty where it need not."""
        if (held := own_memory()) > most:
            return f"{held // MIB:,} MiB are held, more than {most // MIB:,}"
        over = max(room.overdue(time.monotonic()) for room in ROOMS)
        return f"work goes on {over:.0f} s beyond its time" if over > self._service.settings.stuck_seconds else ""


def own_memory() -> int:
    """Bytes that this process holds of its own, without the pages of files; 0 where the system does not tell."""
    with suppress(OSError):
        if found := re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text()):
            return 1024 * int(found[1])
    return 0
