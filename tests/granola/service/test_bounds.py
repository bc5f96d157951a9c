"""Every route has its bound, by construction; who may ask; figures of several workers."""

from __future__ import annotations

import json
from typing import Any

import pytest
import requests
from fastapi import FastAPI

from granola.service.gate import READING, BoundedRoute, add_routes, check_host_and_site, route
from granola.service.limits import ServiceSettings
from granola.service.problems import HTTPProblem
from granola.service.service_figures import Metrics, SharedFigures
from tests.granola.service.conftest import OBAMA, Running
from tests.granola.service.sent_requests import BODIES, VALUES, application, mutated, parameters


def test_no_route_can_be_added_without_its_bound() -> None:
    app = FastAPI()
    app.router.route_class = BoundedRoute

    class Routes:
        async def unbound(self) -> None:
            """Anything."""

        @route("/y", READING)
        async def bound(self) -> None:
            """Anything."""

    with pytest.raises(TypeError, match="/x: unbound has no bound"):
        app.get("/x")(Routes().unbound)
    add_routes(app, Routes())


def test_requests_of_tests_are_of_every_route_and_parameter() -> None:
    routes = application()
    assert {route.path for route in routes if route.methods == {"POST"}} == set(BODIES)
    most = {route.path: route.bound.most_body_bytes(ServiceSettings(snapshot="x")) for route in routes}
    assert {path for path, size in most.items() if size} == set(BODIES)
    assert {path for path, size in most.items() if size > 1 << 20} == {"/v1/ladders", "/v1/score"}
    assert {name for route in routes for name in parameters(route)} == set(VALUES)
    assert {route.path for route in routes if not route.bound.token} == {"/v1/health/live", "/v1/health/ready"}


@pytest.mark.parametrize("path", BODIES)
def test_each_is_answered(service: Running, path: str) -> None:
    got = requests.post(service.address + path, json=BODIES[path], timeout=30)
    assert got.status_code == 200, got.text[:300]


def test_mutated_requests_get_an_answer_that_is_no_fault(service: Running) -> None:
    with requests.Session() as session:
        for seed in range(150):
            one = mutated(seed)
            headers = {"Content-Type": one.media_type}
            got = session.request(one.method, service.address + one.path, data=one.body, headers=headers, timeout=60)
            assert got.status_code < 500 or got.status_code == 503, (seed, got.text[:200])
    assert "Traceback" not in service.log.read_text()


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:80", "LOCALHOST.", "127.0.0.1:8080", "[::1]:80", "ours.org", ""]
)
def test_hosts_that_are_ours(host: str) -> None:
    hosts = frozenset({"localhost", "ours.org"})
    check_host_and_site(ServiceSettings(snapshot="x", hosts=hosts), "POST", {b"host": host.encode()})


@pytest.mark.parametrize("host", ["elsewhere.org", "localhost.org", "127.0.0.1.org", "x" * 400, "ours.org:80:80", "é"])
def test_hosts_that_are_not(host: str) -> None:
    settings = ServiceSettings(snapshot="x", hosts=frozenset({"localhost", "ours.org"}))
    with pytest.raises(HTTPProblem, match="not asked under that name"):
        check_host_and_site(settings, "GET", {b"host": host.encode()})


def test_pages_of_other_sites_post_nothing() -> None:
    with pytest.raises(HTTPProblem, match="other sites"):
        check_host_and_site(ServiceSettings(snapshot="x"), "POST", {b"sec-fetch-site": b"cross-site"})
    check_host_and_site(ServiceSettings(snapshot="x"), "GET", {b"sec-fetch-site": b"cross-site"})


def test_figures_are_of_all_workers_and_outlive_them() -> None:
    shared = SharedFigures(2)
    one, other = Metrics(shared), Metrics(shared)
    one.continue_at_place(0)
    other.continue_at_place(1)
    for metrics in (one, one, other):
        metrics.count_request("/v1/ladder", "POST", 200, 0.003)
    one.set_gauge("granola_connections", 3)
    one.publish()
    asked = 'granola_requests_total{method="POST",route="/v1/ladder",status="200"}'
    assert f"{asked} 3.0\n" in other.prometheus_text().decode()
    successor = Metrics(shared)
    successor.continue_at_place(0)
    successor.count_request("/v1/ladder", "POST", 200, 20.0)
    page = successor.prometheus_text().decode()
    assert f"{asked} 4.0\n" in page
    assert 'granola_request_seconds_bucket{le="0.005",route="/v1/ladder"} 3.0\n' in page
    assert 'granola_request_seconds_bucket{le="+Inf",route="/v1/ladder"} 4.0\n' in page
    assert 'granola_request_seconds_count{route="/v1/ladder"} 4.0\n' in page
    assert "granola_connections" not in page  # those of the worker that is gone


def test_a_method_that_a_client_invents_is_in_no_figure(service: Running) -> None:
    for number in range(30):
        got = requests.request(f"INVENTED{'ABCDEF'[number % 6]}", f"{service.address}/v1/ladder", timeout=30)
        assert (got.status_code, got.json()["code"]) == (405, "method")
    figures = requests.get(f"{service.address}/v1/metrics", timeout=30).text
    assert "INVENTED" not in figures
    assert 'granola_requests_total{method="other",route="/v1/ladder",status="405"}' in figures


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("/v1/ladder", {"phrase": "free"}),
        ("/v1/link", {"phrase": None}),
        ("/v1/aggregate", {"aggregator": "local:x"}),
        ("/v1/aggregate", {"method": "drag"}),
        ("/v1/match", {"matcher": "judge"}),
        ("/v1/match", {"phrase": "free"}),
    ],
)
def test_what_is_not_served_is_told(service: Running, path: str, more: dict[str, Any]) -> None:
    got = requests.post(service.address + path, json=BODIES[path] | more, timeout=30)
    assert (got.status_code, got.json()["code"]) == (422, "request")
    assert next(iter(more)) in got.json()["detail"]


def test_what_is_raw_is_judged_whole(service: Running) -> None:
    asked = {"levels": [["Paris"]], "predictions": ["<think>Not Lyon.</think>Paris"], "matcher": "em"}
    levels = []
    for raw in (False, True):
        got = requests.post(f"{service.address}/v1/match", json={**asked, "raw": raw}, timeout=30).json()
        levels.append(got["items"][0]["level"])
        assert ("raw" in json.dumps(got["matcher"])) == raw
    assert levels == [1, None]
    assert requests.post(f"{service.address}/v1/ladder", json=OBAMA, timeout=30).status_code == 200
