"""A worker that hangs and holds the interpreter's lock is replaced, and does not keep the service from ending."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import requests

from granola.errors import UsageError
from granola.service.heartbeats import Heartbeats
from granola.service.server import FINISHING
from granola.service.settings import Settings
from granola.service.supervisor import ENDING
from tests.granola.service.conftest import Running, started
from tests.granola.service.test_limits import OBAMA
from tests.granola.service.test_running import children

HANGS = 1.5
STUCK = 2.0
STOPS = 5.0
SLACK = 3.0  # for processes to start and end on a machine with much else to do
# The service with one route more, whose regular expression never ends and keeps the lock meanwhile.
_PATCHED = """
import json, re, sys, time
import granola.service.app as app
from granola.service.server import bind, run
from granola.service.settings import Settings
add = app.add_page
def with_hang(whole, service):
    @whole.get("/hang")
    async def hang():
        await service.bench.run(lambda: re.fullmatch("(a|aa)+b", "a" * 100), seconds=1)
    @whole.get("/stick")
    async def stick():
        await service.desk.run(lambda holding: time.sleep(1_000))
    add(whole, service)
app.add_page = with_hang
given = json.loads(sys.argv[1])
workers = given.pop("workers")
sock = bind("127.0.0.1", 0, workers=workers)
told = f"serving snapshot x at http://127.0.0.1:{sock.getsockname()[1]}"
run(Settings(**given), sock, workers=workers, ready=lambda: print(told, file=sys.stderr, flush=True))
"""


@contextmanager
def serving(snapshot: Path, workers: int) -> Iterator[Running]:
    settings = {"snapshot": str(snapshot), "workers": workers, "hang_seconds": HANGS, "stop_seconds": STOPS,
                "seconds": 1.0, "stuck_seconds": STUCK}  # fmt: skip
    with started([_PATCHED, json.dumps(settings)], snapshot) as running:
        yield running


def hang(service: Running, path: str = "hang") -> None:
    """Let one worker hang; returns while it does."""

    def ask() -> None:
        with suppress(requests.RequestException):
            requests.get(f"{service.address}/{path}", timeout=60)

    threading.Thread(target=ask, daemon=True).start()
    time.sleep(0.3)


def is_live(service: Running) -> bool:
    try:
        return requests.get(f"{service.address}/v1/health/ready", timeout=0.5).status_code == 200
    except requests.RequestException:
        return False


def replaced(service: Running) -> dict[str, float]:
    page = requests.get(f"{service.address}/v1/metrics", timeout=5).text
    found = re.findall(r'granola_workers_replaced_total\{reason="(\w+)"\} (\S+)', page)
    return {reason: float(number) for reason, number in found}


def test_a_worker_that_hangs_is_replaced_and_counted(demo_snapshot: Path) -> None:
    with serving(demo_snapshot, workers=1) as service:
        assert replaced(service) == {"hung": 0, "ended": 0}
        (first,) = children(service.process.pid)
        hang(service)
        began = time.monotonic()
        assert not is_live(service)  # it hangs indeed
        while not is_live(service):
            assert time.monotonic() - began < HANGS + SLACK
        assert children(service.process.pid) != [first]
        assert replaced(service) == {"hung": 1, "ended": 0}
        assert f"worker {first} has not answered for {HANGS:g} s" in service.log.read_text()


def test_a_worker_whose_reader_is_stuck_is_replaced(demo_snapshot: Path) -> None:
    """The reader is in code that gives the interpreter's lock away, so that only its requests do not end."""
    with serving(demo_snapshot, workers=1) as service:
        (first,) = children(service.process.pid)
        hang(service, "stick")
        began = time.monotonic()
        assert is_live(service)
        asked = requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=20)
        assert (asked.status_code, asked.json()["code"]) == (503, "time-limit")
        while children(service.process.pid) in ([first], []):
            assert time.monotonic() - began < 1.0 + STUCK + HANGS + 2 * SLACK
            time.sleep(0.1)
        while not is_live(service):
            assert time.monotonic() - began < 1.0 + STUCK + HANGS + 4 * SLACK
        assert requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=20).status_code == 200
        assert replaced(service) == {"hung": 1, "ended": 0}
        assert "cannot be stopped" in service.log.read_text()


def test_another_worker_answers_all_the_while(demo_snapshot: Path) -> None:
    with serving(demo_snapshot, workers=2) as service:
        before = set(children(service.process.pid))
        connections = [requests.Session() for _ in range(12)]  # each stays with the worker that took it
        for session in connections:
            assert session.get(f"{service.address}/v1/health/live", timeout=5).status_code == 200
        hang(service)
        well = []
        for session in connections:
            with suppress(requests.RequestException):
                session.get(f"{service.address}/v1/health/live", timeout=0.3)
                well.append(session)
        assert 0 < len(well) < len(connections)
        until = time.monotonic() + HANGS + 2 * SLACK
        while len(now := set(children(service.process.pid))) < 2 or now == before:
            assert time.monotonic() < until
            assert well[0].get(f"{service.address}/v1/health/live", timeout=1).status_code == 200
        assert len(now & before) == 1
        assert replaced(service) == {"hung": 1, "ended": 0}  # told by whichever worker


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT], ids=lambda one: one.name)
def test_a_service_whose_worker_hangs_ends_within_its_grace(demo_snapshot: Path, sign: signal.Signals) -> None:
    with serving(demo_snapshot, workers=1) as service:
        pids = children(service.process.pid)
        hang(service)
        began = time.monotonic()
        service.process.send_signal(sign)
        assert service.process.wait(timeout=30) == 0
        assert time.monotonic() - began < STOPS + 1  # the promise is STOPS, on a machine without other work
        assert "killed" in service.log.read_text()
        assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_what_is_left_is_killed_before_the_grace_is_over() -> None:
    stop = Settings(snapshot="x").stop_seconds
    assert (stop, FINISHING * stop, ENDING * stop) == (30, 25, 28)


def test_a_second_interrupt_waits_for_nobody(demo_snapshot: Path) -> None:
    with serving(demo_snapshot, workers=1) as service:
        hang(service)
        service.process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        began = time.monotonic()
        service.process.send_signal(signal.SIGINT)
        assert service.process.wait(timeout=30) == 0
        assert time.monotonic() - began < STOPS - 1


def test_a_supervisor_that_was_stopped_itself_kills_nobody_for_that(demo_snapshot: Path) -> None:
    with serving(demo_snapshot, workers=1) as service:
        (first,) = children(service.process.pid)
        for sign in (signal.SIGSTOP, signal.SIGCONT):
            for pid in (service.process.pid, first):
                os.kill(pid, sign)
            time.sleep(HANGS + 1.5)
        assert children(service.process.pid) == [first]


def test_only_what_can_be_waited_for_is_taken() -> None:
    for name in ("hang_seconds", "stop_seconds", "stuck_seconds"):
        with pytest.raises(UsageError, match=name):
            Settings(snapshot="x", **{name: 0})


def test_heartbeats_are_seen_by_other_processes() -> None:
    told = Heartbeats(2)
    if not (pid := os.fork()):
        told.beat(1, 7.5)
        told.count("hung")
        os._exit(0)
    os.waitpid(pid, 0)
    assert (told.until(0), told.until(1)) == (0, 7.5)
    assert told.replaced() == {"hung": 1, "ended": 0}
