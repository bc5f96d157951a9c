"""What tests of this folder share."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import every_kind
import pytest
import wikidata_api
from api_world import WORLD as THINGS
from dump_json import entity_json, lines
from springfield import WORLD

from kg.building.snapshot import build
from kg.export.rdf_writer import export_rdf
from kg.reading import dump as reading


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A world of towns as a dump."""
    path = tmp_path / "world.json.gz"
    path.write_bytes(gzip.compress(lines(*WORLD)))
    return path


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dumps are read in blocks so small that a small one has many."""
    monkeypatch.setattr(reading, "BLOCK", 8000)
    monkeypatch.setattr(reading, "PACKED", 4000)


@pytest.fixture
def contact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services on the network may be asked."""
    monkeypatch.setenv("GRANOLA_CONTACT", "tests@example.org")


@pytest.fixture
def api_server() -> Iterator[wikidata_api.Server]:
    """A server like WikiData's API over the world of things, two of them merged."""
    entities = {name: entity_json(one) for name, one in THINGS.items()}
    with wikidata_api.serving(entities, {"Q900": "Q7", "Q901": "Q900"}) as found:
        yield found


@pytest.fixture(scope="session")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The world of every kind of value as a dump, a snapshot of it, and its RDF: to be read, not written."""
    found = tmp_path_factory.mktemp("kinds")
    (found / "world.json").write_bytes(lines(*every_kind.WORLD.values()))
    build([found / "world.json"], found / "dump")
    export_rdf(found / "dump", found / "world.nt")
    export_rdf(found / "dump", found / "world.ttl", format="ttl")
    return found
