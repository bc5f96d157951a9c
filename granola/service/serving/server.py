"""Worker processes that share a snapshot, under one that watches them (`granola.service.serving.supervisor`).

SIGTERM and SIGINT end what was begun and then the process; SIGHUP takes up the snapshot anew.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from granola.errors import UsageError
from granola.service.service_settings import SHARED_METRICS, ServiceSettings
from granola.service.serving.supervisor import Supervisor, WorkerCalls

BACKLOG = 1024
SWITCH_SECONDS = 0.002  # how long answers may wait for the thread that makes ladders; less costs more switches
COLLECTED = (20_000, 20, 100)  # what is read of a snapshot stays, and looking it through takes a tenth of a second
BEATS = 5  # in `hang_seconds`
FINISHING = 5 / 6  # of the grace, in which what was begun is answered; the rest is for closing
BALANCED = sys.platform == "linux"
_FOLDER = "granola-metrics-"
log = logging.getLogger("granola.service")


class _Server(uvicorn.Server):
    """uvicorn's server, told when it is ready, and ending with status 0 when it was asked to end."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None], reload: Callable[[], Any]) -> None:
        super().__init__(config)
        self._on_start = started
        self._reload = reload
        self._tasks: set[asyncio.Task[None]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's; then SIGHUP has its meaning."""
        await super().startup(sockets)
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._reload_soon)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGHUP})  # one that came before has waited
        self._on_start()

    def stop(self) -> None:
        """End gracefully, soon."""
        self.should_exit = True

    def keep(self, task: asyncio.Task[None]) -> None:
        """Hold on to a task until it is done."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _reload_soon(self) -> None:
        self.keep(asyncio.get_running_loop().create_task(self._reload()))

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGTERM and SIGINT; a second SIGINT does not wait for anybody."""
        before = {sign: signal.signal(sign, self.handle_exit) for sign in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for sign, handler in before.items():
                signal.signal(sign, handler)


def bind(host: str, port: int, *, workers: int = 1) -> socket.socket:
    """A socket that listens, or that keeps the address for workers that will.

    Raises UsageError where that cannot be.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)  # refused where somebody listens there already
        if workers > 1 and BALANCED:
            address = sock.getsockname()
            sock.close()
            sock = _balanced(family, address)
        else:
            sock.listen(BACKLOG)
    except OSError as error:
        raise UsageError(f"cannot listen at {host}, port {port}: {error.strerror or error}") from error
    sock.setblocking(False)
    return sock


def _balanced(family: int, address: Any) -> socket.socket:
    """A socket of its own for a worker: the system shares connections out among those that listen.

    With one socket for all, whoever wakes first would take them all.
    """
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    sock.bind(address)
    return sock


def run(settings: ServiceSettings, sock: socket.socket, *, workers: int, ready: Callable[[], None]) -> None:
    """Serve until told to stop. `ready` is called once, when requests are answered.

    Raises GranolaError where no worker can start.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if workers == 1:
        _supervise(settings, sock, workers, ready)
        return
    _sweep_folders()
    folder = tempfile.mkdtemp(prefix=f"{_FOLDER}{os.getpid()}-")
    os.environ[SHARED_METRICS] = folder  # read when the library is imported, which nothing above does
    try:
        _supervise(settings, sock, workers, ready)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _supervise(settings: ServiceSettings, sock: socket.socket, workers: int, ready: Callable[[], None]) -> None:
    import granola.service.app
    import granola.service.serving.connections  # noqa: F401  # loaded once, shared by all

    def serve(calls: WorkerCalls) -> None:
        listener = sock
        if workers > 1 and BALANCED:
            listener = _balanced(sock.family, sock.getsockname())
            sock.close()
            listener.listen(BACKLOG)
            listener.setblocking(False)
        _serve(settings, listener, calls)

    Supervisor(settings, workers, serve=serve, ready=ready, close=sock.close).run()


def _sweep_folders() -> None:
    """Remove what services left behind that were killed."""
    for left in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*-*"):
        pid = left.name.removeprefix(_FOLDER).partition("-")[0]
        if pid.isdigit() and not _runs(int(pid)):
            shutil.rmtree(left, ignore_errors=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another's
        pass
    return True


def _serve(settings: ServiceSettings, sock: socket.socket, calls: WorkerCalls) -> None:
    """Serve in this process, a worker; end when its supervisor does."""
    from granola.service.app import create_app
    from granola.service.serving.connections import Connection, sweep

    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*COLLECTED)
    app, service = create_app(settings, replaced=calls.heartbeats.replaced)
    Connection.settings, Connection.metrics = settings, service.metrics
    often = min(1.0, settings.hang_seconds / BEATS)

    async def looked_after() -> None:
        while True:
            await asyncio.sleep(often)
            if (over := service.overdue(time.monotonic())) < settings.stuck_seconds:
                calls.beat()
            else:
                log.error("work goes on %.0f s beyond its time and cannot be stopped: this worker is replaced", over)
            sweep(server.server_state.connections)

    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=int(settings.idle_seconds),
        timeout_graceful_shutdown=max(1, int(FINISHING * settings.stop_seconds)),
    )

    def begun() -> None:
        gc.collect()
        gc.freeze()  # what is there now stays: it is not looked through again and again
        loop = asyncio.get_running_loop()
        server.keep(loop.create_task(looked_after()))
        loop.add_reader(calls.supervisor, server.stop)
        calls.ready()

    server = _Server(config, begun, service.reload)
    server.run(sockets=[sock])
