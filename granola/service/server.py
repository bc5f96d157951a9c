"""gunicorn with its own ASGI worker, and the hooks of this service: a worker is ready, healthy, or has to go.

gunicorn manages processes and connections. A worker opens the snapshot before it takes requests, looks once a second
for a replaced file, and is itself replaced where it uses too much memory or a thread does not end.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import os
import re
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from mmap import mmap
from pathlib import Path
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter

from granola.errors import UsageError
from granola.service.application import Service, create_app
from granola.service.gate import Gate
from granola.service.limits import MIB, ServiceSettings
from granola.service.service_figures import AWAY, ENDS, LEAVES, SERVES, Metrics, SharedFigures
from granola.service.snapshots import ROOMS, SnapshotSession
from kg.store import is_address

BACKLOG = 1024
IDLE = 5  # seconds that a connection may wait for its next request: a worker that ends waits for idle ones, too
GRACE = 25  # seconds that requests under way have when the service ends
SWITCH_SECONDS = 0.002  # how long answers may wait for the thread that makes ladders; less costs more switches
COLLECTED = (20_000, 20, 100)  # gc: data of the snapshot is rarely visited, which takes .1 s
LOOK_SECONDS, TICK_SECONDS = 1.0, 0.05
LONGEST_PAUSE = 30.0  # seconds between two tries to open a snapshot
LONGEST_WAIT = 60.0  # seconds that a worker which is to end waits for the one that replaces it
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
        SnapshotSession(settings).prepared().close()  # workers get it in shared memory by forking
    gc.collect()
    gc.freeze()  # objects of the start stay for ever: the garbage collector skips them
    _Arbiter(_Application(settings, sock, workers, ready)).run()


class _Arbiter(Arbiter):  # type: ignore[misc]  # the library has no types
    """gunicorn's, which starts the replacement of a worker that will end while that one still answers."""

    def manage_workers(self) -> None:
        """See `Arbiter.manage_workers`."""
        self.num_workers = self.cfg.workers + self.app.leaving
        super().manage_workers()

    def handle_hup(self) -> None:
        """Start no other workers: they might find a snapshot that cannot be opened, and these are well."""

    handle_usr2 = handle_ttin = handle_ttou = handle_hup  # nor another master, nor more workers than have places


class _Application(BaseApplication):  # type: ignore[misc]  # the library has no types
    """gunicorn's settings and hooks, and the application that is loaded once and runs in each worker."""

    def __init__(self, settings: ServiceSettings, sock: socket.socket, workers: int, ready: Callable[[], None]) -> None:
        self._settings = settings
        self._sock = sock
        self._ready = ready
        self._workers = workers
        self._shared = SharedFigures(2 * workers)  # each may have a replacement that runs at the same time
        self._was_ready = mmap(-1, 1)  # not 0 when any worker has ever been; shared, too
        self._metrics = Metrics(self._shared)
        self._service = Service(settings, self._metrics)
        self._task: asyncio.Task[None]  # of a worker; the reference keeps it alive
        super().__init__()

    @property
    def leaving(self) -> int:
        """The number of workers that have a replacement at the moment."""
        return min(self._workers, self._shared.number(LEAVES, ENDS))

    def load_config(self) -> None:
        """See `BaseApplication.load_config`."""
        own = {
            "bind": f"fd://{self._sock.fileno()}", "worker_class": "asgi", "workers": self._workers, "backlog": BACKLOG,
            "timeout": max(1, round(self._settings.hang_seconds)), "graceful_timeout": GRACE, "keepalive": IDLE,
            "preload_app": True, "loglevel": "error", "control_socket_disable": True, "asgi_lifespan": "off",
            "limit_request_line": 8190, "limit_request_fields": 100, "limit_request_field_size": 8190,
            "worker_tmp_dir": "/dev/shm" if os.access("/dev/shm", os.W_OK) else None,  # heartbeats fill no disk
            "pre_fork": self._assign_place, "post_worker_init": self._start_worker, "child_exit": self._after_exit,
        }  # fmt: skip
        for name, value in own.items():
            self.cfg.set(name, value)

    def load(self) -> Gate:
        """See `BaseApplication.load`."""
        # Loaded before the workers start: a worker answers nothing while numpy comes from a slow disk.
        importlib.import_module("numpy")
        return create_app(self._service)

    def _assign_place(self, arbiter: Any, worker: Any) -> None:
        """Give a worker a place of its own among the figures."""
        taken = {other.place for other in arbiter.WORKERS.values()}
        worker.place = min(set(range(2 * self._workers)) - taken)

    def _start_worker(self, worker: Any) -> None:
        """A worker's beginning, before it takes requests: the snapshot is opened. Exits where it cannot be."""
        worker.notify()  # without a first sign, gunicorn would never replace a worker that hangs
        worker.cfg.set("timeout", round(self._settings.body_seconds) + 1)  # between two pieces of a body
        self._metrics.take_place(worker.place)
        try:
            worker.loop.run_until_complete(self._open_snapshot(worker))
        except Exception as error:
            log.error("the snapshot cannot be opened: %s", error)
            raise SystemExit(Arbiter.WORKER_BOOT_ERROR) from None

    def _after_exit(self, _: Any, worker: Any) -> None:
        """Count a worker that is to be replaced."""
        self._shared.tell(worker.place, AWAY)
        self._metrics.count("granola_workers_replaced_total", "reason", "hung" if worker.aborted else "ended")
        self._metrics.share()

    async def _open_snapshot(self, worker: Any) -> None:
        """Open the snapshot, and let gunicorn hear of the worker meanwhile. Raises what opening it raises."""
        self._service.open_rooms()
        self._task = asyncio.create_task(self._watch_snapshot_and_worker(worker))
        while not self._service.snapshots.is_open and not self._task.done():
            await asyncio.wait([self._task], timeout=TICK_SECONDS)
            worker.notify()
            if not worker.alive:
                raise SystemExit(0)
            if self._was_ready[0] and not self._shared.number(SERVES, LEAVES):
                return  # take requests although not ready, so that health checks get an answer
        if self._task.done():
            self._task.result()

    async def _watch_snapshot_and_worker(self, worker: Any) -> None:
        """Open the snapshot, check it and this worker once a second, and end the worker.

        An error is logged and the step tried again after growing pauses, unless no worker has ever been ready.
        """
        pause, most, why = LOOK_SECONDS, 0, ""
        while worker.alive and not why:
            try:
                if await self._service.snapshots.look():
                    gc.collect()  # together with all results from the former snapshot
                    if not most:
                        gc.freeze()
                    most = max(self._service.settings.memory, 2 * own_memory())
                    self._metrics.serves(self._service.snapshots.current.snapshot_id)
                    self._shared.tell(worker.place, SERVES)
                    if not self._was_ready[0]:
                        self._was_ready[0] = 1
                        self._ready()
                self._metrics.gauge("granola_waiting", self._service.snapshots.current.reader.waiting)
                self._metrics.gauge("granola_connections", worker.nr_conns)
                self._metrics.share()
                held, over = own_memory(), max(room.overdue(time.monotonic()) for room in ROOMS)
                if held > most:
                    why = f"{held // MIB:,} MiB are held, more than {most // MIB:,}"
                elif over > self._service.settings.stuck_seconds:
                    why = f"work goes on {over:.0f} s beyond its time"
                pause = LOOK_SECONDS
                await asyncio.sleep(LOOK_SECONDS)
            except Exception as error:
                if not self._was_ready[0]:
                    raise
                told = "worker %d cannot open the snapshot, or look after it, and tries again in %g s: %s"
                log.error(told, os.getpid(), pause, error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
        if why:
            log.error("worker %d is replaced, and answers what it has begun: %s", os.getpid(), why)
            await self._end_when_replaced(worker)
        self._shared.tell(worker.place, ENDS)
        while True:  # until the loop ends
            worker.notify()  # as gunicorn does not where a worker answers what it has begun
            await asyncio.sleep(LOOK_SECONDS)

    async def _end_when_replaced(self, worker: Any) -> None:
        """Have the worker end when another serves, or none does for long, and when it has answered its requests."""
        service, until = self._service, time.monotonic() + LONGEST_WAIT
        self._shared.tell(worker.place, LEAVES)  # gunicorn then starts another
        while not self._shared.number(SERVES) and time.monotonic() < until:
            await asyncio.sleep(TICK_SECONDS)
        is_long = service.batches or service.scoring.waiting or service.reading.waiting
        seconds = service.settings.batch_seconds if is_long else service.settings.seconds
        worker.cfg.set("graceful_timeout", int(seconds) + 2)
        worker.alive = False


def own_memory() -> int:
    """Bytes of memory of this process alone, without the pages of files; 0 where the system does not report it."""
    with suppress(OSError):
        if found := re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text()):
            return 1024 * int(found[1])
    return 0
