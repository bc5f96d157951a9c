"""A Neo4j server that refuses, stays away, goes away, comes back or takes too long.

These tests start a server of their own, with a password, by the script that NEO4J_SCRIPT names:
`SCRIPT start|stop|kill HOME [PORT]`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from neo4j_server import SCRIPT, SERVER, snapshot_of
from store_contract import ALL, PARIS, as_read

from kg.errors import MirrorAccessError, MirrorError, MirrorTimeoutError, MirrorUnreachableError
from kg.export.comparison import verify_mirror
from kg.store import open_store
from kg.store.neo4j import Address, Neo4jClient, Neo4jStore
from kg.store.neo4j_push import push

pytestmark = pytest.mark.thorough("kg/store")

PASSWORD = "correct-horse-7"

needs_script = [
    *SERVER,
    pytest.mark.skipif(not SCRIPT, reason="NEO4J_SCRIPT names no script that starts a Neo4j server"),
]


class Server:
    """A server that can be killed and started again."""

    def __init__(self, home: Path) -> None:
        self.home = home
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"bolt://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.begin()
        assert self._starting.wait(timeout=120) == 0

    def begin(self) -> None:
        """Start without waiting until it answers."""
        small = {"NEO4J_PASSWORD": PASSWORD, "NEO4J_HEAP": "384m", "NEO4J_PAGECACHE": "64m"}
        self._starting = subprocess.Popen(
            [SCRIPT, "start", str(self.home), str(self.port)],
            env={**os.environ, **small},
            stdout=subprocess.DEVNULL,
        )

    def kill(self) -> None:
        subprocess.run([SCRIPT, "kill", str(self.home)], check=True)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("neo4j"))
    server.start()
    yield server
    server.kill()


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEO4J_USER", raising=False)
    monkeypatch.setenv("NEO4J_PASSWORD", PASSWORD)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return snapshot_of(tmp_path_factory.mktemp("snapshot") / "all.sqlite", ALL)


class TestRealServer:
    pytestmark = needs_script

    def test_credentials_are_those_of_the_environment(self, server: Server, snapshot: Path) -> None:
        push(snapshot, server.address, replace=True)
        with open_store(server.address) as store:
            assert store.entities(["Q90"]) == {"Q90": as_read(PARIS)}

    @pytest.mark.parametrize(
        ("user", "password", "said"),
        [
            (None, "wrong-secret", "refused user 'neo4j'"),
            ("someone", PASSWORD, "refused user 'someone'"),
            (None, "", "refused no credentials"),
        ],
    )
    def test_refused_credentials(
        self, server: Server, monkeypatch: pytest.MonkeyPatch, user: str | None, password: str, said: str
    ) -> None:
        monkeypatch.setenv("NEO4J_USER", user or "")
        monkeypatch.setenv("NEO4J_PASSWORD", password)
        with pytest.raises(MirrorAccessError, match=f"{said}.*set NEO4J_USER and NEO4J_PASSWORD") as caught:
            open_store(server.address)
        assert isinstance(caught.value, PermissionError)
        assert "secret" not in str(caught.value)
        assert PASSWORD not in str(caught.value)

    def test_a_query_has_a_time_limit(self, server: Server) -> None:
        client = Neo4jClient(Address.parse(server.address), query_seconds=0.5)
        with pytest.raises(MirrorTimeoutError, match=r"more than 0\.5 s and was stopped"):
            client.run("UNWIND range(1, 2000000000) AS n WITH n WHERE n % 7 = 8 RETURN count(n)")
        assert client.run("RETURN 1") == [[1]]
        client.close()

    def test_a_server_that_went_away_and_came_back(self, server: Server, snapshot: Path) -> None:
        push(snapshot, server.address, replace=True)
        patient = Neo4jStore.open(server.address, patience=120)
        hasty = Neo4jStore.open(server.address, patience=0.3)
        server.kill()
        with pytest.raises(MirrorUnreachableError, match=r"no Neo4j server answers at .*is it running"):
            hasty.entities(["Q90"])
        server.begin()
        # Data that a kill left in the log is there again, and the patient reader saw only a pause.
        assert patient.entities(["Q90"]) == {"Q90": as_read(PARIS)}
        assert hasty.entities(["Q90"]) == {"Q90": as_read(PARIS)}
        for store in (patient, hasty):
            store.close()

    def test_a_push_that_loses_its_server_can_be_repeated(self, server: Server, snapshot: Path) -> None:
        written = 0

        def progress(*_: object) -> None:
            nonlocal written
            written += 1
            if written == 15:
                server.kill()

        with pytest.raises(MirrorUnreachableError):
            push(snapshot, server.address, batch=1, replace=True, patience=0.3, progress=progress)
        server.start()
        with pytest.raises(MirrorError, match="is unfinished"):
            open_store(server.address)
        assert push(snapshot, server.address).resumed
        assert not verify_mirror(server.address, snapshot).problems



def test_a_web_server_is_no_neo4j() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            with server.accept()[0] as client:
                client.recv(100)
                client.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")

        thread = threading.Thread(target=refuse, daemon=True)
        thread.start()
        with pytest.raises(MirrorUnreachableError, match=r"is this its bolt port.*looks like HTTP"):
            Neo4jStore.open(f"bolt://127.0.0.1:{server.getsockname()[1]}", patience=0)
        thread.join(timeout=10)


def test_no_server(snapshot: Path) -> None:
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"bolt://127.0.0.1:{taken.getsockname()[1]}"
        for use in (open_store, lambda where: push(snapshot, where)):
            with pytest.raises(MirrorUnreachableError, match=f"no Neo4j server answers at {address}/neo4j") as caught:
                use(address)
            assert isinstance(caught.value, ConnectionError)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bolt://localhost", "bolt://localhost/neo4j"),
        ("bolt://localhost:7687/", "bolt://localhost:7687/neo4j"),
        ("neo4j+s://db.example.org/wikidata", "neo4j+s://db.example.org/wikidata"),
        ("bolt://[::1]:7687", "bolt://[::1]:7687/neo4j"),
        ("bolt+ssc://127.0.0.1:1", "bolt+ssc://127.0.0.1:1/neo4j"),
    ],
)
def test_addresses(text: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEO4J_DATABASE", raising=False)
    assert str(Address.parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("http://localhost:7474", "an address of the web; give a snapshot file, or a mirror's bolt port"),
        ("https://localhost", "an address of the web"),
        ("mysql://localhost", "not 'mysql'"),
        ("bolt://", "no address of a Neo4j server"),
        ("bolt://host:port", "no address of a Neo4j server"),
        ("bolt://host:99999", "no address of a Neo4j server"),
        ("bolt://host?database=x", "no address of a Neo4j server"),
        ("bolt://host/a b", "no name of a Neo4j database"),
        ("bolt://host/a/b", "no name of a Neo4j database"),
        ("bolt://neo4j:hush-hush@host", "credentials do not belong into the address of host; set NEO4J_USER"),
    ],
)
def test_addresses_that_are_none(text: str, said: str) -> None:
    with pytest.raises(MirrorError, match=said) as caught:
        open_store(text)
    assert "hush" not in str(caught.value)
