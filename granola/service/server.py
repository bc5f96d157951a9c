"""gunicorn with its ASGI worker, and the hooks that start, watch and replace workers of this service.

gunicorn manages processes and connections. A worker opens the snapshot before it takes requests, checks once a second
whether the file was replaced, and is itself replaced where it uses too much memory or one of its threads hangs.
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
from granola.service.snapshots import WORK_THREADS, SnapshotSession
from kg.store import is_address

BACKLOG = 1024  # connections that the kernel queues while all workers are busy
IDLE = 5  # seconds that a connection may wait for its next request: a worker that ends waits for idle ones, too
GRACE = 25  # seconds for running requests when the service ends
SWITCH_SECONDS = 0.002  # longest wait of responses for the thread that makes ladders; less would cost more switches
COLLECTED = (20_000, 20, 100)  # thresholds of gc: a full collection visits the snapshot's objects, .1 s each time
LOOK_SECONDS, TICK_SECONDS = 1.0, 0.05  # between two checks of a worker; between two signs of life at its start
LONGEST_PAUSE = 30.0  # seconds between two tries to open a snapshot
LONGEST_WAIT = 60.0  # seconds that a worker which is to end waits for the one that replaces it
log = logging.getLogger("granola.service")


def open_listening_socket(host: str, port: int) -> socket.socket:
    """Open a listening socket. Raises UsageError where the address or port cannot be used."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        why = f"{error.strerror or error}".partition(" (while")[0]
        place = f"{host}, port {port}"
        raise UsageError(f"cannot listen at {place}: {why}; give another --port, or 0 for a free one") from error


def run_service(settings: ServiceSettings, sock: socket.socket, *, workers: int, ready: Callable[[], None]) -> None:
    """Serve until a signal ends the process. `ready` is called once, by the first worker that answers requests."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*COLLECTED)
    if not is_address(settings.snapshot):
        SnapshotSession(settings).prepare_tables().close()  # workers get it in shared memory by forking
    gc.collect()
    gc.freeze()  # objects of the start stay for ever: the garbage collector skips them
    _Arbiter(_Application(settings, sock, workers, ready)).run()


class _Arbiter(Arbiter):  # type: ignore[misc]  # the library has no types
    """gunicorn's arbiter, which starts the replacement of a worker while that one still answers."""

    def manage_workers(self) -> None:
        """See `Arbiter.manage_workers`."""
        self.num_workers = self.cfg.workers + self.app.workers_being_replaced
        super().manage_workers()

    def handle_hup(self) -> None:
        """Ignore the signal to reload: new workers might fail to open the snapshot while the running ones work."""

    handle_usr2 = handle_ttin = handle_ttou = handle_hup  # nor another master, nor more workers than have places


class _Application(BaseApplication):  # type: ignore[misc]  # the library has no types
    """The settings and hooks of gunicorn, and the application, which is loaded once and runs in each worker."""

    def __init__(self, settings: ServiceSettings, sock: socket.socket, workers: int, ready: Callable[[], None]) -> None:
        self._settings = settings
        self._sock = sock
        self._ready = ready
        self._workers = workers
        self._shared = SharedFigures(2 * workers)  # a worker and its replacement run at the same time
        self._was_ready = mmap(-1, 1)  # 1 once any worker was ready; shared by forks
        self._metrics = Metrics(self._shared)
        self._service = Service(settings, self._metrics)
        self._task: asyncio.Task[None]  # the task of a worker: asyncio itself keeps only weak references
        super().__init__()

    @property
    def workers_being_replaced(self) -> int:
        """The number of workers that are leaving while their replacement starts."""
        return min(self._workers, self._shared.count_in_states(LEAVES, ENDS))

    def load_config(self) -> None:
        """See `BaseApplication.load_config`."""
        own = {
            "bind": f"fd://{self._sock.fileno()}", "worker_class": "asgi", "workers": self._workers, "backlog": BACKLOG,
            "timeout": max(1, round(self._settings.hang_seconds)), "graceful_timeout": GRACE, "keepalive": IDLE,
            "preload_app": True, "loglevel": "error", "control_socket_disable": True, "asgi_lifespan": "off",
            "limit_request_line": 8190, "limit_request_fields": 100, "limit_request_field_size": 8190,
            "worker_tmp_dir": "/dev/shm" if os.access("/dev/shm", os.W_OK) else None,  # heartbeats fill no disk
            "pre_fork": self._assign_place, "post_worker_init": self._start_worker,
            "child_exit": self._count_ended_worker,
        }  # fmt: skip
        for name, value in own.items():
            self.cfg.set(name, value)

    def load(self) -> Gate:
        """See `BaseApplication.load`."""
        # Loaded before the workers start: a worker answers nothing while numpy comes from a slow disk.
        importlib.import_module("numpy")
        return create_app(self._service)

    def _assign_place(self, arbiter: Any, worker: Any) -> None:
        """Assign to a worker its own place in the shared figures."""
        taken = {other.place for other in arbiter.WORKERS.values()}
        worker.place = min(set(range(2 * self._workers)) - taken)

    def _start_worker(self, worker: Any) -> None:
        """Open the snapshot in a new worker before it takes requests. Exits where it cannot be opened."""
        worker.notify()  # without a first sign, gunicorn would never replace a worker that hangs
        worker.cfg.set("timeout", round(self._settings.body_seconds) + 1)  # a slow body is no hanging worker
        self._metrics.continue_at_place(worker.place)
        try:
            worker.loop.run_until_complete(self._wait_until_snapshot_is_open(worker))
        except Exception as error:
            log.error("the snapshot cannot be opened: %s", error)
            raise SystemExit(Arbiter.WORKER_BOOT_ERROR) from None

    def _count_ended_worker(self, _: Any, worker: Any) -> None:
        """Count an ended worker in the metrics and free its state."""
        self._shared.set_state(worker.place, AWAY)
        self._metrics.count("granola_workers_replaced_total", "reason", "hung" if worker.aborted else "ended")
        self._metrics.publish()

    async def _wait_until_snapshot_is_open(self, worker: Any) -> None:
        """Wait until the snapshot is open, with signs of life for gunicorn. Raises the errors of opening it."""
        self._service.start_work_threads()
        self._task = asyncio.create_task(self._watch_snapshot_and_worker(worker))
        while not self._service.snapshots.is_open and not self._task.done():
            await asyncio.wait([self._task], timeout=TICK_SECONDS)
            worker.notify()
            if not worker.alive:
                raise SystemExit(0)
            if self._was_ready[0] and not self._shared.count_in_states(SERVES, LEAVES):
                return  # take requests although not ready, so that health checks get an answer
        if self._task.done():
            self._task.result()

    async def _watch_snapshot_and_worker(self, worker: Any) -> None:
        """Open the snapshot, check it and this worker once a second, and end the worker where it must be replaced.

        An error is logged and the step repeated after growing pauses; before any worker was ready it is raised.
        """
        pause, most, why = LOOK_SECONDS, 0, ""
        while worker.alive and not why:
            try:
                if await self._service.snapshots.open_or_replace():
                    gc.collect()  # together with all results from the former snapshot
                    if not most:
                        gc.freeze()
                    most = max(self._service.settings.memory, 2 * own_memory_bytes())
                    self._metrics.set_snapshot_id(self._service.snapshots.current.snapshot_id)
                    self._shared.set_state(worker.place, SERVES)
                    if not self._was_ready[0]:
                        self._was_ready[0] = 1
                        self._ready()
                self._metrics.set_gauge("granola_waiting", self._service.snapshots.current.reader.waiting)
                self._metrics.set_gauge("granola_connections", worker.nr_conns)
                self._metrics.publish()
                held, now = own_memory_bytes(), time.monotonic()
                over = max(thread.seconds_overdue(now) for thread in WORK_THREADS)
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
            await self._end_worker_when_replaced(worker)
        self._shared.set_state(worker.place, ENDS)
        while True:  # until the loop ends
            worker.notify()  # as gunicorn does not where a worker answers what it has begun
            await asyncio.sleep(LOOK_SECONDS)

    async def _end_worker_when_replaced(self, worker: Any) -> None:
        """End the worker once another serves, or none has for LONGEST_WAIT, and its requests are answered."""
        service, until = self._service, time.monotonic() + LONGEST_WAIT
        self._shared.set_state(worker.place, LEAVES)  # gunicorn then starts another
        while not self._shared.count_in_states(SERVES) and time.monotonic() < until:
            await asyncio.sleep(TICK_SECONDS)
        is_long = service.batches or service.scoring.waiting or service.reading.waiting
        seconds = service.settings.batch_seconds if is_long else service.settings.seconds
        worker.cfg.set("graceful_timeout", int(seconds) + 2)
        worker.alive = False


def own_memory_bytes() -> int:
    """The memory of this process alone in bytes, without pages of files; 0 where the system does not report it."""
    with suppress(OSError):
        if found := re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text()):
            return 1024 * int(found[1])
    return 0
