"""An HTTP server on loopback that answers wbgetentities and wbsearchentities as WikiData does, bad days included."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from loopback import Answering, Loopback, running

Fault = Callable[["Handler", list[str]], bool]  # whether it answered


class Server(Loopback):
    path = "/w/api.php"

    def __init__(self, entities: Mapping[str, Any], redirects: Mapping[str, str]) -> None:
        super().__init__(Handler)
        self.entities_by_id = entities
        self.redirects = redirects
        self.faults: list[Fault] = []  # the first is used up by the next request
        self.asked: list[list[str]] = []
        self.agents: set[str] = set()
        self.params: list[dict[str, str]] = []
        self.running = self.most_running = 0
        self.slowness = 0.0
        self.together = 0  # requests that must have been under way at once before the first is answered
        self.changed = threading.Condition(self.lock)
        self.longest = 10**9  # bytes of an answer, before it is cut as the API cuts


class Handler(Answering):
    usual = "application/json; charset=utf-8"
    server: Server

    def do_GET(self) -> None:  # noqa: N802  # the name that http.server calls
        server = self.server
        params = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        ids = params.get("ids", "").split("|")
        with server.changed:
            server.asked.append(ids)
            server.agents.add(self.headers["User-Agent"])
            server.params.append(params)
            server.running += 1
            server.most_running = max(server.most_running, server.running)
            fault = server.faults.pop(0) if server.faults else None
            server.changed.notify_all()
            server.changed.wait_for(lambda: server.most_running >= server.together, timeout=60)
        time.sleep(server.slowness)
        with server.lock:
            server.running -= 1  # before the reply: the client may ask again as soon as it has it
        if fault is not None and fault(self, ids):
            return
        if params.get("action") == "wbsearchentities":
            self.search(params)
        else:
            self.entities(ids)

    def search(self, params: Mapping[str, str]) -> None:
        """Entities whose label or alias begins with what is searched for, page by page."""
        wanted, code = params["search"].casefold(), params["language"]
        found = []
        for data in self.server.entities_by_id.values():
            label = data.get("labels", {}).get(code, {}).get("value")
            texts = [("label", label), *(("alias", one["value"]) for one in data.get("aliases", {}).get(code, ()))]
            match = next(((kind, text) for kind, text in texts if text and text.casefold().startswith(wanted)), None)
            if match is not None and data["id"].startswith("Q"):
                told = {"type": match[0], "language": code, "text": match[1]}
                found.append({"id": data["id"], "label": label, "match": told})
        found.sort(key=lambda one: (len(str(one["match"]["text"])), str(one["id"])))
        start, limit = int(params.get("continue", "0")), int(params["limit"])
        if limit > 50:
            self.answer({"error": {"code": "badinteger", "info": "limit must be between 1 and 50"}})
            return
        page: dict[str, Any] = {"search": found[start : start + limit], "success": 1}
        if start + limit < len(found):
            page["search-continue"] = start + limit
        self.answer(page)

    def entities(self, ids: list[str]) -> None:
        if len(ids) > 50:
            self.answer({"error": {"code": "toomanyvalues", "info": "Too many values", "limit": 50}})
            return
        found: dict[str, Any] = {}
        size = 0
        for one in ids:
            target = self.server.redirects.get(one, one)
            data = self.server.entities_by_id.get(target)
            if data is None:
                found[one] = {"id": one, "missing": ""}
                continue
            if target != one:
                data = {**data, "redirects": {"from": one, "to": target}}
            size += len(json.dumps(data))
            if size > self.server.longest and found:
                break
            found[one] = data
        self.answer({"entities": found, "success": 1})


def too_many(handler: Handler, _: list[str]) -> bool:
    handler.answer(b"<html>Too many requests</html>", 429, "text/html", Retry_After="0.05")
    return True


def too_many_by_date(handler: Handler, _: list[str]) -> bool:
    handler.answer(b"slow down", 429, "text/plain", Retry_After="Wed, 21 Oct 2015 07:28:00 GMT")
    return True


def far_too_many(handler: Handler, _: list[str]) -> bool:
    handler.answer(b"come tomorrow", 429, "text/plain", Retry_After="86400")
    return True


def lagging(handler: Handler, _: list[str]) -> bool:
    error = {"code": "maxlag", "info": "Waiting for 10.64.48.35: 6.1 seconds lagged.", "lag": 6.1}
    handler.answer({"error": error}, Retry_After="0.05", X_Database_Lag="6")
    return True


def rate_limited(handler: Handler, _: list[str]) -> bool:
    handler.answer({"error": {"code": "ratelimited", "info": "You've exceeded your rate limit."}})
    return True


def error_page(handler: Handler, _: list[str]) -> bool:
    handler.answer(b"<!DOCTYPE html><title>Wikimedia Error</title>", 200, "text/html")
    return True


def unavailable(handler: Handler, _: list[str]) -> bool:
    handler.answer(b"<!DOCTYPE html><title>Wikimedia Error</title>", 503, "text/html")
    return True


def half_sent(handler: Handler, _: list[str]) -> bool:
    handler.cut(b'{"entities": {"Q1": {"id"', 100_000)
    return True


def cut_off(handler: Handler, _: list[str]) -> bool:
    handler.answer(b'{"entities": {"Q1": {"id"')
    return True


def forbidden(handler: Handler, _: list[str]) -> bool:
    handler.answer(b"Please set a user-agent and respect our robot policy", 403, "text/plain")
    return True


def bad_id(handler: Handler, ids: list[str]) -> bool:
    handler.server.faults.insert(0, bad_id)
    if "Q13" not in ids:
        return False
    handler.answer({"error": {"code": "no-such-entity", "info": 'Could not find such an entity "Q13"', "id": "Q13"}})
    return True


@contextmanager
def serving(entities: Mapping[str, Any], redirects: Mapping[str, str] | None = None) -> Iterator[Server]:
    with running(Server(entities, redirects or {})) as server:
        yield server
