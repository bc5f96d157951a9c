"""Putting a snapshot into Neo4j: once, again, over another, after being killed, and what verify says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from neo4j_server import SERVER, snapshot_of, the_server
from store_contract import ALL, PARIS

from kg.building import snapshot
from kg.errors import MirrorError
from kg.export.comparison import verify_mirror
from kg.store import open_store
from kg.store.neo4j import Address, Neo4jClient
from kg.store.neo4j_push import push
from tests.conftest import Run

pytestmark = [*SERVER, pytest.mark.thorough("kg/store")]
DEMO = Path(__file__).resolve().parents[2] / "granola" / "demo"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with the_server() as found:
        yield found


@pytest.fixture
def client(address: str) -> Iterator[Neo4jClient]:
    client = Neo4jClient(Address.parse(address))
    yield client
    client.close()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "demo.sqlite"
    snapshot.build([DEMO / "wikidata.json"], path)
    return path


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return snapshot_of(
        tmp_path / "small.sqlite", ALL, redirects={"Q77": "Q90"}, other_values=[(31, 515, 7)], other_properties=[(9, 1)]
    )


def content(client: Neo4jClient) -> list[list[object]]:
    """Everything in the database but the marker, in an order of its own."""
    nodes = client.run("MATCH (n) WHERE NOT n:Snapshot RETURN labels(n), properties(n)")
    stated = client.run("MATCH (s)-[r]->(t) RETURN s.id, type(r), properties(r), t.id")
    return sorted([*nodes, *stated], key=str)


def test_again_over_a_whole_mirror_changes_nothing(small: Path, address: str, client: Neo4jClient) -> None:
    first = push(small, address, replace=True)
    marker = client.run("MATCH (m:Snapshot) RETURN properties(m)")
    before = content(client)
    again = push(small, address)
    assert first.written == {
        "entities": 8, "missing": 2, "names": 9, "redirects": 1, "value lists": 4, "relationships": 10,
    }  # fmt: skip
    assert (again.written, again.resumed) == ({}, False)
    assert content(client) == before
    assert client.run("MATCH (m:Snapshot) RETURN properties(m)") == marker


KILLED = """
import os, sys
from kg.store.neo4j_push import push
left = int(sys.argv[3])
def progress(*state):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), 9)
push(sys.argv[1], sys.argv[2], batch=400, replace=len(sys.argv) > 4, progress=progress)
"""


def test_a_killed_push_goes_on_where_it_stood(demo: Path, address: str, client: Neo4jClient) -> None:
    push(demo, address, replace=True)
    whole = content(client)
    arguments = [sys.executable, "-c", KILLED, str(demo), address]
    # Killed while emptying, and while loading entities, names, relationships.
    assert subprocess.run([*arguments, "1", "replace"], check=False).returncode == -9
    for left in ("3", "5", "6", "4"):
        assert subprocess.run([*arguments, left], check=False).returncode == -9
        with pytest.raises(MirrorError, match=r"is unfinished.*granola snapshot push"):
            open_store(address)
    last = push(demo, address)
    assert last.resumed
    assert 0 < sum(last.written.values()) < len(whole)
    assert content(client) == whole
    assert not verify_mirror(address, demo).problems


def test_another_snapshot_is_replaced_only_when_asked(small: Path, tmp_path: Path, address: str) -> None:
    push(small, address, replace=True)
    other = snapshot_of(tmp_path / "other.sqlite", [PARIS])
    with pytest.raises(MirrorError, match=r"holds snapshot [0-9a-f]{64}, not [0-9a-f]{64}; give --replace"):
        push(other, address)
    with open_store(address) as store:
        assert "Q142" in store.entities(["Q142"])
    push(other, address, replace=True)
    with open_store(address) as store:
        assert list(store.ids()) == ["Q90"]


def test_entities_of_unknown_origin_are_not_built_upon(small: Path, address: str, client: Neo4jClient) -> None:
    push(small, address, replace=True)
    client.run("MATCH (m:Snapshot) DELETE m")
    with pytest.raises(MirrorError, match="holds no snapshot; put one there"):
        open_store(address)
    with pytest.raises(MirrorError, match="nodes :Entity that no snapshot accounts for; give --replace"):
        push(small, address)
    push(small, address, replace=True)
    assert not verify_mirror(address, small).problems


def test_another_model_is_not_read(small: Path, address: str, client: Neo4jClient) -> None:
    push(small, address, replace=True)
    client.run("MATCH (m:Snapshot) SET m.model = 1")
    for use in (open_store, lambda where: push(small, where)):
        with pytest.raises(MirrorError, match="model 1; this version reads model 2"):
            use(address)
    push(small, address, replace=True)
    open_store(address).close()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("MATCH (n:Entity {id: 'Q16'}) DETACH DELETE n", ["7 entities instead of 8"]),
        ("MATCH (:Entity {id: 'Q90'})-[r:P17]->() DELETE r", ["9 relationships instead of 10", "differ: Q90"]),
        ("MATCH (n:Entity {id: 'Q90'}) SET n.label_en = 'Parys'", ["1 entities differ: Q90"]),
        ("MATCH (:Entity {id: 'Q90'})-[r:P17]->() SET r.rank = 'deprecated'", ["differ: Q90"]),
        ("MATCH (m:Snapshot) SET m.manifest = '{\"snapshot_id\": \"x\", \"counts\": {}}'", ["found is 'x'"]),
        ("MATCH (n:Entity {id: 'Q90'}) SET n.statements = '{'", ["Q90 cannot be read"]),
    ],
)  # fmt: skip
def test_verify_tells_what_was_changed(
    small: Path, address: str, client: Neo4jClient, change: str, said: list[str]
) -> None:
    push(small, address, replace=True)
    assert verify_mirror(address, small).problems == ()
    client.run(change)
    problems = "\n".join(verify_mirror(address, small).problems)
    for part in said:
        assert part in problems, problems


def test_the_command_line(demo: Path, address: str, run: Run, tmp_path: Path) -> None:
    """push, info, verify and tiers; the ladders are byte for byte those from the file."""
    code, out, err = run("snapshot", "push", demo, f"{address}/neo4j", "--replace")
    assert (code, out) == (0, "")
    assert f"{address}/neo4j: 1,303 entities, 3 missing, 2,338 names" in err
    code, out, err = run("snapshot", "push", demo, address)
    assert (code, out) == (0, "")
    assert "already" in err

    assert run("snapshot", "info", f"{address}/neo4j")[1].splitlines() == [
        line for line in run("snapshot", "info", demo)[1].splitlines() if not line.startswith("size ")
    ]
    code, out, _ = run("snapshot", "verify", address, "--against", demo, "--sample", "0")
    assert code == 0
    assert out.startswith(f"{address}: as {demo}")

    questions = DEMO / "questions.jsonl"
    for name, where in (("file", demo), ("mirror", address)):
        assert run("tiers", questions, "--snapshot", where, "--out", tmp_path / name, "--format", "jsonl")[0] == 0
    assert (tmp_path / "file").read_bytes() == (tmp_path / "mirror").read_bytes()

    said = [
        run("ladder", "Where was Barack Obama born?", "Honolulu", "--relation", "P19", "--snapshot", where)
        for where in (str(demo), address)
    ]
    assert said[0] == said[1]
    assert "Hawaii" in said[0][1]


def test_wrong_use_of_the_command_line(small: Path, address: str, run: Run, tmp_path: Path) -> None:
    push(small, address, replace=True)
    for words, said in (
        (["verify", address], "name it"),
        (["verify", small, "--against", small], "is for mirrors"),
        (["push", tmp_path / "none", address], "no such file"),
        (["push", small, "http://localhost:7474"], "an address of the web"),
        (["push", small, f"{address}/nowhere"], "DatabaseNotFound"),
        (["info", "ftp://localhost"], "the scheme must be one of bolt"),
    ):
        code, out, err = run("snapshot", *words)  # type: ignore[misc]
        assert (code, out) == (2, ""), err
        assert said in " ".join(err.replace("│", " ").split()), err
    other = snapshot_of(tmp_path / "other.sqlite", [PARIS])
    code, out, _ = run("snapshot", "verify", address, "--against", other)
    assert code == 1
    assert "8 entities instead of 1" in out
