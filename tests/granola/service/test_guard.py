"""Who may ask: names that are not this service's, pages of other sites, clients that want everything."""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
import requests

from granola.service.incoming.middleware import AccessChecks, is_address, name_of
from granola.service.service_settings import ServiceSettings
from tests.command_line import COMMAND
from tests.granola.service.conftest import Running, limited, serving, wait_until
from tests.granola.service.test_limits import OBAMA, batch, is_well, sent

pytestmark = pytest.mark.thorough("granola/service")


@pytest.mark.parametrize(
    ("host", "name", "figures"),
    [
        (b"localhost:8080", "localhost", False),
        (b"LOCALHOST.", "localhost", False),
        (b"example.org.:80", "example.org", False),
        (b"127.0.0.1:8080", "127.0.0.1", True),
        (b"[::1]:8080", "::1", True),
        (b"[::1]", "::1", True),
        (b"127.0.0.1.example.org", "127.0.0.1.example.org", False),
        (b"\xff", "ÿ", False),
    ],
)
def test_hosts_are_read(host: bytes, name: str, figures: bool) -> None:
    assert (name_of(host), is_address(host)) == (name, figures)


def asked(service: Running, host: str, path: str = "/v1/search?name=Honolulu") -> requests.Response:
    return requests.get(service.address + path, headers={"Host": host}, timeout=10)


def test_a_page_whose_name_was_bound_to_this_machine_reads_nothing(service: Running) -> None:
    for host in ("evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example"):
        for path in ("/", "/v1/search?name=Honolulu", "/v1/metrics", "/v1/health/ready"):
            got = asked(service, host, path)
            assert (got.status_code, got.json()["code"]) == (421, "host")
        posted = requests.post(f"{service.address}/v1/ladder", json=OBAMA, headers={"Host": host}, timeout=10)
        assert posted.status_code == 421
    for host in ("localhost", "localhost:1", "127.0.0.1", "[::1]:80"):
        assert asked(service, host).status_code == 200


def test_names_may_be_allowed(demo_snapshot: Path) -> None:
    with serving(demo_snapshot, "--allow-host", "Granola.example.org") as service:
        assert asked(service, "granola.example.org").status_code == 200
        assert asked(service, "other.example.org").status_code == 421
    words = ["serve", "--demo", "--allow-host", "a/b"]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert "'a/b'" in done.stderr


def test_beyond_this_machine_any_name_will_do(demo_snapshot: Path) -> None:
    with serving(demo_snapshot, "--host", "0.0.0.0", "--no-auth") as service:
        place = service.address.replace("0.0.0.0", "127.0.0.1")
        got = requests.get(f"{place}/v1/snapshot", headers={"Host": "granola.example.org"}, timeout=10)
        assert got.status_code == 200


def test_pages_of_other_sites_send_nothing(service: Running) -> None:
    body = json.dumps(OBAMA)
    for path, kind in (("/v1/ladder", "application/json"), ("/v1/ladders", "text/plain")):
        for site, status in (("cross-site", 403), ("same-origin", 200), ("none", 200)):
            headers = {"Content-Type": kind, "Sec-Fetch-Site": site}
            got = requests.post(service.address + path, data=body, headers=headers, timeout=10)
            assert got.status_code == status
    link = requests.get(f"{service.address}/", headers={"Sec-Fetch-Site": "cross-site"}, timeout=10)
    assert link.status_code == 200  # a link to the page is followed


def test_one_client_has_no_more_than_its_share(demo_snapshot: Path) -> None:
    with limited(demo_snapshot, per_client=1) as service:
        body = batch(4_000)
        head = b"POST /v1/ladders HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
        with closing(sent(service, head + body)) as connection:
            assert connection.recv(12) == b"HTTP/1.1 200"
            got = requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=10)
            assert (got.status_code, got.json()["code"]) == (429, "client-limit")
            assert int(got.headers["Retry-After"]) > 0
            assert requests.get(f"{service.address}/v1/health/ready", timeout=10).status_code == 200
        wait_until(lambda: is_well(service))
        metrics = requests.get(f"{service.address}/v1/metrics", timeout=10).text
        assert 'granola_refused_total{code="client-limit"}' in metrics


def test_clients_are_counted_only_where_a_limit_is_given() -> None:
    for per_client, let_in in ((None, 20), (3, 3)):
        guard = AccessChecks(ServiceSettings(snapshot="x", waiting=8, per_client=per_client))
        assert sum(guard.enter("10.0.0.7") for _ in range(20)) == let_in
        assert guard.enter("10.9.9.9")
        guard.leave("10.0.0.7")
        assert guard.enter("10.0.0.7")
