"""Processes: one that serves, or several that share a socket and a snapshot under one that watches them.

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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn

from granola.errors import GranolaError, UsageError
from granola.service.settings import SHARED_METRICS, Settings

BACKLOG = 1024
SWITCH_SECONDS = 0.002  # how long answers may wait for the thread that makes ladders; less costs more switches
COLLECTED = (20_000, 20, 100)  # what is read of a snapshot stays, and looking it through takes a tenth of a second
RESTART_SECONDS = 1.0
BALANCED = sys.platform == "linux"
_FOLDER = "granola-metrics-"
FAILED = 3  # how a worker ends that could not start
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


def run(settings: Settings, sock: socket.socket, *, workers: int, ready: Callable[[], None]) -> None:
    """Serve until told to stop. `ready` is called once, when requests are answered.

    Raises GranolaError where no worker can start.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if workers == 1:
        _serve(settings, sock, started=ready, parent=None)
        return
    _sweep_folders()
    folder = tempfile.mkdtemp(prefix=f"{_FOLDER}{os.getpid()}-")
    os.environ[SHARED_METRICS] = folder  # read when the library is imported, which nothing above does
    try:
        _Crew(settings, sock, workers, ready).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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


def _serve(settings: Settings, sock: socket.socket, *, started: Callable[[], None], parent: int | None) -> None:
    """Serve in this process; end when `parent`, a pipe that nobody writes to, is closed at its other end."""
    from granola.service.app import create_app
    from granola.service.connections import Connection, sweep

    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*COLLECTED)
    app, service = create_app(settings)
    Connection.settings, Connection.metrics = settings, service.metrics

    async def swept() -> None:
        while True:
            await asyncio.sleep(1.0)
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
        timeout_graceful_shutdown=int(settings.stop_seconds),
    )

    def begun() -> None:
        gc.collect()
        gc.freeze()  # what is there now stays: it is not looked through again and again
        loop = asyncio.get_running_loop()
        server.keep(loop.create_task(swept()))
        if parent is not None:
            loop.add_reader(parent, server.stop)
        started()

    server = _Server(config, begun, service.reload)
    server.run(sockets=[sock])


class _Crew:
    """Workers, each a fork; one that ends is replaced."""

    def __init__(self, settings: Settings, sock: socket.socket, workers: int, ready: Callable[[], None]) -> None:
        self._settings = settings
        self._sock = sock
        self._workers = workers
        self._ready = ready
        self._pids: set[int] = set()
        self._stopping = False
        self._alive = os.pipe()  # closed, and so felt by the workers, when this process ends in any way
        self._begun = os.pipe()  # a byte for each worker that is ready

    def run(self) -> None:
        """Keep the workers going until told to stop."""
        import granola.service.app
        import granola.service.connections  # noqa: F401  # loaded once, shared by all

        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, lambda *_: self._stop())
        signal.signal(signal.SIGHUP, lambda *_: self._tell(signal.SIGHUP))
        for _ in range(self._workers):
            self._start()
        if self._all_begun():
            self._ready()
        self._watch()

    def _all_begun(self) -> bool:
        """Wait until every worker is ready. Raises GranolaError where one cannot start."""
        waiting = self._workers
        while waiting and not self._stopping:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if pid:
                self._pids.discard(pid)
                if not self._stopping:
                    self._stop()
                    raise GranolaError("a worker could not start; the lines above say why")
            os.set_blocking(self._begun[0], False)
            with suppress(BlockingIOError):
                waiting -= len(os.read(self._begun[0], waiting))
            time.sleep(0.01)
        return not self._stopping

    def _watch(self) -> None:
        from prometheus_client import multiprocess

        while self._pids:
            pid, status = os.wait()
            self._pids.discard(pid)
            multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]  # the library has no types here
            if self._stopping:
                continue
            log.error("worker %d ended (%s); another takes its place", pid, _how(status))
            time.sleep(RESTART_SECONDS)
            if not self._stopping:
                self._start()

    def _start(self) -> None:
        pid = os.fork()
        if pid:
            self._pids.add(pid)
            return
        status = FAILED
        try:
            for sign in (signal.SIGTERM, signal.SIGINT):
                signal.signal(sign, signal.SIG_DFL)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            os.close(self._alive[1])
            if BALANCED:
                kept, self._sock = self._sock, _balanced(self._sock.family, self._sock.getsockname())
                kept.close()
                self._sock.listen(BACKLOG)
                self._sock.setblocking(False)
            _serve(
                self._settings,
                self._sock,
                started=self._tell_begun,
                parent=self._alive[0],
            )
            status = 0
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else FAILED
        except BaseException:
            log.exception("a worker failed")
        finally:
            logging.shutdown()
            os._exit(status)

    def _tell_begun(self) -> None:
        os.write(self._begun[1], b"+")

    def _stop(self) -> None:
        self._stopping = True
        self._sock.close()  # or clients would wait at it while the workers finish
        self._tell(signal.SIGTERM)

    def _tell(self, sign: int) -> None:
        for pid in self._pids:
            with suppress(ProcessLookupError):
                os.kill(pid, sign)


def _how(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"signal {-code}" if code < 0 else f"status {code}"
