"""A worker that hangs and holds the interpreter's lock is replaced, and does not keep the service from ending."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import requests

from granola.errors import UsageError
from granola.service.service_settings import ServiceSettings
from granola.service.serving.server import FINISHING
from granola.service.serving.supervisor import ENDING, Heartbeats
from tests.granola.service.conftest import Running, started, wait_until
from tests.granola.service.test_limits import OBAMA, is_well
from tests.granola.service.test_running import children

pytestmark = pytest.mark.thorough("granola/service")

HANGS = 2.0
STUCK = 2.0
STOPS = 3.0
# The service with one route more, whose regular expression never ends and keeps the lock meanwhile.
_PATCHED = """
import json, re, sys, time
def told(word, work):
    print(word, file=sys.stderr, flush=True)
    work()
import granola.service.app as app
from granola.service.serving.server import bind, run
from granola.service.service_settings import ServiceSettings
add = app.add_page
def with_hang(whole, service):
    @whole.get("/hang")
    async def hang():
        await service.bench.run(lambda: told("in hang", lambda: re.fullmatch("(a|aa)+b", "a" * 100)), seconds=1)
    @whole.get("/stick")
    async def stick():
        await service.desk.run(lambda holding: told("in stick", lambda: time.sleep(1_000)))
    add(whole, service)
app.add_page = with_hang
given = json.loads(sys.argv[1])
workers = given.pop("workers")
sock = bind("127.0.0.1", 0, workers=workers)
ready = f"serving snapshot x at http://127.0.0.1:{sock.getsockname()[1]}"
run(ServiceSettings(**given), sock, workers=workers, ready=lambda: print(ready, file=sys.stderr, flush=True))
"""


@contextmanager
def serving(snapshot: Path, workers: int, stops: float = STOPS) -> Iterator[Running]:
    settings = {"snapshot": str(snapshot), "workers": workers, "hang_seconds": HANGS, "stop_seconds": stops,
                "seconds": 1.0, "stuck_seconds": STUCK}  # fmt: skip
    with started([_PATCHED, json.dumps(settings)], snapshot) as running:
        yield running


def hang(service: Running, path: str = "hang") -> None:
    """Let one worker hang; returns while it does."""

    def ask() -> None:
        with suppress(requests.RequestException):
            requests.get(f"{service.address}/{path}", timeout=60)

    threading.Thread(target=ask, daemon=True).start()
    wait_until(lambda: f"in {path}\n" in service.log.read_text())


def is_live(service: Running, seconds: float = 20.0) -> bool:
    try:
        return requests.get(f"{service.address}/v1/health/ready", timeout=seconds).status_code == 200
    except requests.RequestException:
        return False


def replaced(service: Running) -> dict[str, float]:
    page = requests.get(f"{service.address}/v1/metrics", timeout=20).text
    found = re.findall(r'granola_workers_replaced_total\{reason="(\w+)"\} (\S+)', page)
    return {reason: float(number) for reason, number in found}


def test_a_worker_that_hangs_is_replaced_and_counted(demo_snapshot: Path) -> None:
    with serving(demo_snapshot, workers=1) as service:
        assert replaced(service) == {"hung": 0, "ended": 0}
        (first,) = children(service.process.pid)
        hang(service)
        wait_until(lambda: not is_live(service, 0.2))  # it hangs indeed
        wait_until(lambda: children(service.process.pid) not in ([first], []) and is_live(service))
        assert replaced(service) == {"hung": 1, "ended": 0}
        assert f"worker {first} has not answered for {HANGS:g} s" in service.log.read_text()


def test_a_worker_whose_reader_is_stuck_is_replaced(demo_snapshot: Path) -> None:
    """The reader is in code that gives the interpreter's lock away, so that only its requests do not end."""
    with serving(demo_snapshot, workers=1) as service:
        (first,) = children(service.process.pid)
        hang(service, "stick")
        assert is_live(service)
        asked = requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=20)
        assert (asked.status_code, asked.json()["code"]) == (503, "time-limit")
        wait_until(lambda: children(service.process.pid) not in ([first], []) and is_live(service))
        wait_until(lambda: is_well(service))
        assert replaced(service) == {"hung": 1, "ended": 0}
        assert "cannot be stopped" in service.log.read_text()


def test_another_worker_answers_all_the_while(demo_snapshot: Path) -> None:
    with serving(demo_snapshot, workers=2) as service:
        before = set(children(service.process.pid))
        connections = [requests.Session() for _ in range(24)]  # each stays with the worker that took it

        def is_answered(session: requests.Session, seconds: float = 20.0) -> bool:
            with suppress(requests.RequestException):
                return session.get(f"{service.address}/v1/health/live", timeout=seconds).status_code == 200
            return False

        assert all(map(is_answered, connections))
        hang(service)
        with ThreadPoolExecutor(len(connections)) as pool:
            answered = list(pool.map(lambda session: is_answered(session, HANGS / 2), connections))
        assert {*answered} == {True, False}
        well = connections[answered.index(True)]

        def is_another() -> bool:
            assert is_answered(well)
            return len(now := set(children(service.process.pid))) == 2 and now != before

        wait_until(is_another)
        assert len(set(children(service.process.pid)) & before) == 1
        assert replaced(service) == {"hung": 1, "ended": 0}  # told by whichever worker


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT], ids=lambda one: one.name)
def test_a_service_whose_worker_hangs_ends_within_its_grace(demo_snapshot: Path, sign: signal.Signals) -> None:
    with serving(demo_snapshot, workers=1) as service:
        pids = children(service.process.pid)
        hang(service)
        began = time.monotonic()
        service.process.send_signal(sign)
        assert service.process.wait(timeout=60) == 0
        assert time.monotonic() - began < 20  # the promise is STOPS, on a machine without other work
        assert "killed" in service.log.read_text()
        assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_what_is_left_is_killed_before_the_grace_is_over() -> None:
    stop = ServiceSettings(snapshot="x").stop_seconds
    assert (stop, FINISHING * stop, ENDING * stop) == (30, 25, 28)


def test_a_second_interrupt_waits_for_nobody(demo_snapshot: Path) -> None:
    with serving(demo_snapshot, workers=1, stops=100) as service:
        hang(service)
        for seconds in (0.3, 20, 20):  # the second of two that come too close together is lost
            if service.process.poll() is None:
                service.process.send_signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    service.process.wait(timeout=seconds)
        assert service.process.poll() == 0


def test_a_supervisor_that_was_stopped_itself_kills_nobody_for_that(demo_snapshot: Path) -> None:
    with serving(demo_snapshot, workers=1) as service:
        (first,) = children(service.process.pid)
        for sign in (signal.SIGSTOP, signal.SIGCONT):
            for pid in (service.process.pid, first):
                os.kill(pid, sign)
            time.sleep(HANGS + 1.0)
        assert children(service.process.pid) == [first]


def test_only_what_can_be_waited_for_is_taken() -> None:
    for name in ("hang_seconds", "stop_seconds", "stuck_seconds"):
        with pytest.raises(UsageError, match=name):
            ServiceSettings(snapshot="x", **{name: 0})


def test_heartbeats_are_seen_by_other_processes() -> None:
    told = Heartbeats(2)
    if not (pid := os.fork()):
        told.beat(1, 7.5)
        told.count("hung")
        os._exit(0)
    os.waitpid(pid, 0)
    assert (told.until(0), told.until(1)) == (0, 7.5)
    assert told.replaced() == {"hung": 1, "ended": 0}
