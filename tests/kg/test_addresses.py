"""What of an address is shown, what is sent, and where a redirect leads: nowhere."""

from __future__ import annotations

import base64
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from api_world import QUICK
from loopback import Answering, Loopback, running

from kg.base.scope import Scope
from kg.building.other_sources import build_from_api, build_from_sparql
from kg.building.snapshot import Report
from kg.errors import QueryError, ServiceError
from kg.reading.api import WikiDataAPI
from kg.web.addresses import ServiceAddress, message_without_secrets, without_secrets
from kg.web.client import AnswerCache

pytestmark = pytest.mark.thorough("kg/reading", "kg/web")

CANARY = "c4n4ry/&<x>"
QUOTED = "c4n4ry%2F%26%3Cx%3E"
HIDDEN = ("c4n4ry", base64.b64encode(b"me:c4n4ry")[:12].decode())
ONE = Scope(ids=frozenset({"Q1"}))


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("https://host/sparql", "https://host/sparql"),
        ("https://host:8443/sparql?key=abc", "https://host:8443/sparql?key=***"),
        ("https://h/s?apikey=abc&token=d", "https://h/s?apikey=***&token=***"),
        ("https://h/s?a-b.c=x;y=", "https://h/s?a-b.c=***&y=***"),
        ("https://h/s?abc", "https://h/s?***"),
        ("https://h/s?s e c=x&%3d=y", "https://h/s?***&***"),
        ("https://me:abc@host/s#abc", "https://host/s"),
        ("https://me:a@b@host/s", "https://host/s"),
        ("bolt://me:abc@host:7687/db", "bolt://host:7687/db"),
        ("openai:http://me:abc@host/v1?x=y", "openai:http://host/v1?x=***"),
        ("me:abc@host/s", "host/s"),
        ("ftp:/me:abc@host/s", "ftp:/host/s"),
        ("https://me:abc", "https://me"),
        ("https://host:abc/s", "https://host/s"),
        ("https://[::1]:80/s", "https://[::1]:80/s"),
        ("https://[abc]x/s", "https://[abc]/s"),
        ("C:/a?b#c", "C:/a?b#c"),
        ("a@b.sqlite", "a@b.sqlite"),
        ("wdqs-main", "wdqs-main"),
    ],
)
def test_what_is_shown_of_an_address(given: str, shown: str) -> None:
    assert without_secrets(given) == shown
    assert without_secrets(shown) == shown
    assert message_without_secrets(f"no such thing: '{given.replace(' ', '')}' said so") == (
        f"no such thing: '{without_secrets(given.replace(' ', '')) if ':/' in given[2:] else given}' said so"
    )


def test_a_key_is_sent_and_not_shown() -> None:
    address = ServiceAddress.parse(f"https://host/s?graph=g&key={QUOTED}#x")
    assert address.sent == f"https://host/s?graph=g&key={QUOTED}"
    assert address.shown == "https://host/s?graph=***&key=***"
    assert "c4n4ry" not in repr(address)
    assert "c4n4ry" not in address.remove_secrets(f"{CANARY} {QUOTED} c4n4ry/&amp;&lt;x&gt;")


class Repeating(Loopback):
    """Answers every request with what it was asked, headers included."""

    path = "/s"

    def __init__(self, status: int, kind: str, **headers: str) -> None:
        super().__init__(Repeater)
        self.status, self.kind, self.headers = status, kind, headers
        self.asked: list[dict[str, str]] = []


class Repeater(Answering):
    usual = "text/html"
    server: Repeating

    def do_GET(self) -> None:  # noqa: N802  # the name that http.server calls
        server = self.server
        server.asked.append({"path": self.path, **dict(self.headers.items())})
        size = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(size)
        sign = self.headers.get("Authorization", "")
        plain = base64.b64decode(sign.partition(" ")[2]).decode() if sign else ""
        text = f"<b>{self.path} {CANARY} {plain}</b>"
        if server.kind == "broken":
            self.wfile.write(f"HTP/9 {text}\r\n\r\n".encode())
            self.close_connection = True
            return
        body = b'{"error":{"code":"x","info":"%s"}}' % text.encode() if server.kind == "json" else text.encode()
        kind = "application/json" if server.kind == "json" else "text/html"
        self.answer(body, server.status, kind, **server.headers)

    do_POST = do_GET  # noqa: N815


@pytest.fixture(params=["api", "sparql"])
def build_at(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, contact: None
) -> Callable[[str], Report]:
    monkeypatch.setenv("GRANOLA_SOURCE_USER", "me")
    monkeypatch.setenv("GRANOLA_SOURCE_PASSWORD", "c4n4ry-pass")
    if request.param == "api":
        return lambda url: build_from_api(tmp_path / "s", scope=ONE, url=url, patience=QUICK)
    return lambda url: build_from_sparql(url, tmp_path / "s", scope=ONE, patience=QUICK)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, "html") for status in (500, 403, 200)),
        *((200, kind) for kind in ("json", "broken")),
    ],
)
def test_a_server_that_repeats_the_secrets_is_not_repeated(
    build_at: Callable[[str], Report], tmp_path: Path, status: int, kind: str
) -> None:
    with running(Repeating(status, kind)) as server:
        with pytest.raises(ServiceError) as caught:
            build_at(f"{server.url}?key={QUOTED}")
        assert f"/s?key={QUOTED}" in server.asked[0]["path"]
        assert server.asked[0]["Authorization"] == "Basic " + base64.b64encode(b"me:c4n4ry-pass").decode()
    told = "".join(traceback.format_exception(caught.value))
    messages = [line for line in told.splitlines() if "Error" in line or "TryAgain" in line]
    assert "key=***" in str(caught.value)
    assert not any(sign in text for sign in HIDDEN for text in (str(caught.value), *messages))
    for path in tmp_path.iterdir():
        assert b"c4n4ry" not in path.read_bytes()


# Redirects


@pytest.fixture
def elsewhere() -> Iterator[Repeating]:
    with running(Repeating(200, "json")) as server:
        yield server


@pytest.mark.parametrize("status", [301, 307])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_redirect_is_told_and_not_followed(
    build_at: Callable[[str], Report], elsewhere: Repeating, tmp_path: Path, status: int, host: str
) -> None:
    target = f"http://{host}:{elsewhere.server_port}/s"
    location = f"http://me:c4n4ry@{host}:{elsewhere.server_port}/s?key=c4n4ry"
    with running(Repeating(status, "html", Location=location)) as one:
        with pytest.raises(QueryError) as caught:
            build_at(one.url)
        assert len(one.asked) == 1
    assert f"leads elsewhere ({status}): to {target}?key=***" in str(caught.value)
    assert elsewhere.asked == []
    assert not (tmp_path / "s").exists()


@pytest.mark.usefixtures("contact")
def test_known_services_get_nobodys_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANOLA_SOURCE_PASSWORD", "c4n4ry")
    assert WikiDataAPI(AnswerCache(tmp_path / "cache")).client.address.credentials is None
    assert WikiDataAPI(AnswerCache(tmp_path / "cache"), url="https://host/api").client.address.credentials == (
        "",
        "c4n4ry",
    )
