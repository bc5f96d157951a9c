"""Selections by questions without a dump, as commands: the API and an endpoint give what a dump would."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import sparql_server
import wikidata_api
from dump_json import entity_json, lines

from abstraction.ladders.class_terms import used_as_value
from kg.building.snapshot import build
from kg.export.rdf_writer import export_rdf
from kg.graph.graph import Graph
from kg.store import open_store
from tests.conftest import Run
from tests.worlds import CLASSES, entity

WORLD = (
    *CLASSES,
    entity("Q101", "Ashby", "city in Marlow County, Norland", aliases=["Ashbyville"], P31="Q515", P131="Q102"),
    entity("Q102", "Marlow County", "county of Norland", P31="Q47168", P131="Q103"),
    entity("Q103", "Norland", "state of Vestria", P31="Q35657", P131="Q104"),
    entity("Q104", "Vestria", "sovereign state in Europe", P31="Q3624078"),
    entity("Q105", "Ashby", "family name", P31="Q101352"),
    entity("Q110", "artist", P31="Q28640"),
    entity("Q111", "painter", P31="Q28640", P279="Q110"),
    entity("Q112", "Ann Smith", P31="Q5", P106="Q111"),
    entity("Q106", "Elsewhere", "city in Vestria", P31="Q515", P131="Q104"),
)
ASKED = {"id": "a", "question": "Where was Ann Smith born?", "answer": "Ashbyville"}

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.usefixtures("contact")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The world as a dump, a snapshot and RDF, and the file of questions."""
    made = tmp_path_factory.mktemp("world")
    (made / "world.json").write_bytes(lines(*WORLD))
    build([made / "world.json"], made / "dump")
    export_rdf(made / "dump", made / "world.nt")
    (made / "qa.jsonl").write_text(json.dumps(ASKED) + "\n")
    return made


@pytest.fixture
def services(folder: Path) -> Iterator[dict[str, str]]:
    """The addresses of the sources by their words."""
    data = {one.id: entity_json(one) for one in WORLD}
    with wikidata_api.serving(data) as api, sparql_server.serving(folder / "world.nt") as endpoint:
        yield {"api": api.url, "sparql": endpoint.url, "dump": str(folder / "world.json")}


@pytest.mark.parametrize("kind", ["api", "sparql"])
def test_questions_select_what_their_ladders_need(
    kind: str, services: dict[str, str], folder: Path, tmp_path: Path, run: Run
) -> None:
    options = ("--qa", folder / "qa.jsonl", "--hops", "6", "--languages", "en")
    made: dict[str, tuple[set[str], list[str]]] = {}
    for source in ("dump", kind):
        out, tiers = tmp_path / source, tmp_path / f"{source}.jsonl"
        code, _, stderr = run("snapshot", "build", "--from", source, services[source], *options, "--out", out)
        assert code == 0, stderr
        code, _, stderr = run("tiers", folder / "qa.jsonl", "--snapshot", out, "--out", tiers)
        assert code == 0, stderr
        row = json.loads(tiers.read_text())
        with open_store(out) as store:
            names = [level["tiers"][0]["text"] for level in row["levels"]]
            made[source] = {*store.ids()}, names
    assert made[kind][1] == made["dump"][1] == ["Ashbyville", "Marlow County, Norland", "Norland", "Vestria"]
    assert {"Q101", "Q102", "Q103", "Q104"} <= made[kind][0]
    assert "Q106" not in made[kind][0]


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("README.md", "api"),
        ("docs/how-to/snapshot-without-a-dump.md", "api"),
        ("docs/how-to/snapshot-without-a-dump.md", "sparql"),
    ],
)
def test_recipes_for_questions_run_as_they_are_printed(
    page: str, kind: str, services: dict[str, str], tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a service on loopback in the place of WikiData's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "questions.csv").write_text("id,question,answer\na,Where was Ann Smith born?,Ashbyville\n")
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "export GRANOLA_CONTACT=" in text
    lines = [line.split() for line in text.splitlines() if f"snapshot build --from {kind} " in line and "--qa" in line]
    words = next(iter(lines))
    assert words[:5] == ["granola", "snapshot", "build", "--from", kind]
    code, _, stderr = run(*words[1:5], services[kind], *words[words.index("--qa") :])
    assert code == 0, stderr
    with open_store(tmp_path / "mine.sqlite") as store:
        assert {"Q101", "Q102", "Q103", "Q104"} <= {*store.ids()}


@pytest.mark.parametrize(("kind", "used"), [("dump", False), ("api", True), ("sparql", True)])
def test_occupations_of_what_services_gave_need_no_counts(
    kind: str, used: bool, services: dict[str, str], tmp_path: Path, run: Run
) -> None:
    """How many are artists nobody knows who fetched a piece; of a dump it is counted."""
    out = tmp_path / "out"
    ids = ",".join(one.id for one in WORLD)
    code, _, stderr = run("snapshot", "build", "--from", kind, services[kind], "--ids", ids, "--out", out)
    assert code == 0, stderr
    with open_store(out) as store:
        is_used = used_as_value(Graph(store), "P106", None)
        assert [is_used("Q111"), is_used("Q110"), is_used("Q101")] == [True, used, False]


def test_names_are_found_as_a_dump_finds_them_or_told(
    services: dict[str, str], folder: Path, tmp_path: Path, run: Run
) -> None:
    """Whatever their capitals and blanks; what nothing is called is named."""
    names = ("ashbyville", "VESTRIA", "Painter", "ann  smith", "Nowhere at all")
    rows = [{"id": name, "question": "What?", "answer": name} for name in names]
    (tmp_path / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    selected = {}
    for kind in ("dump", "sparql"):
        words = ("--from", kind, services[kind], "--qa", tmp_path / "qa.jsonl", "--out", tmp_path / kind)
        code, _, stderr = run("snapshot", "build", *words, "--no-properties")
        assert code == 0, stderr
        with open_store(tmp_path / kind) as store:
            selected[kind] = set(store.ids())
            told = store.manifest().get("names_not_found")
    assert selected["sparql"] == selected["dump"] == {"Q101", "Q104", "Q111", "Q112"}
    assert told == ["Nowhere at all"]
    assert "1 of the 5 names asked for are no label or alias there" in stderr
