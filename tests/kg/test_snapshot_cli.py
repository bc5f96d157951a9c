"""`granola snapshot`, through the program's own entry point."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import sqlite3
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import orjson
import pytest
from dump_json import entity_json, lines
from springfield import WORLD, ids_of

from granola.commands import snapshot_build
from kg.building import ingestion
from tests.conftest import Run

pytestmark = pytest.mark.usefixtures("dump")


@pytest.fixture(name="run")
def run_in_folder(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `granola snapshot ...` in the temporary folder."""
    monkeypatch.chdir(tmp_path)
    return partial(run, "snapshot")


def test_build_info_verify(run: Run, tmp_path: Path) -> None:
    code, out, err = run("build", "world.json.gz", "--out", "w.snapshot")
    assert (code, out) == (0, "")
    assert err.startswith("w.snapshot: 13 entities, 17 statements of 13 entities read\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w.snapshot", "world.json.gz"]

    code, out, err = run("info", "w.snapshot", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["entities"], found["statements"]) == (13, 17)
    assert found["bytes"] == (tmp_path / "w.snapshot").stat().st_size
    assert found["software"].startswith("granola ")
    assert shlex.split(found["command"])[:3] == ["granola", "snapshot", "build"]

    code, out, err = run("info", "w.snapshot")
    assert (code, err) == (0, "")
    assert found["snapshot_id"] in out
    assert "everything" in out

    code, out, err = run("verify", "w.snapshot")
    assert (code, err) == (0, "")
    assert out.startswith("w.snapshot: well")


def test_the_manifests_command_rebuilds_the_same(run: Run, tmp_path: Path) -> None:
    (tmp_path / "my ids.txt").write_text("Q2\n")
    words = "build world.json.gz --out w --ids Q1 --ids-from 'my ids.txt' --instances-of Q24 --hops 1 --along P36,P17"
    assert run(*shlex.split(words), "--languages", "de,fr", "--limit", "12")[0] == 0
    first = json.loads(run("info", "w", "--json")[1])
    (tmp_path / "w").unlink()
    assert run(*shlex.split(first["command"])[2:])[0] == 0
    second = json.loads(run("info", "w", "--json")[1])
    assert second["snapshot_id"] == first["snapshot_id"]
    assert second["selection"] == first["selection"]
    assert second["languages"] == ["de", "en", "fr", "mul"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--ids Q1,Q2 --ids Q3", "Q1 Q2 Q3 P131"),
        ("--ids-from ids.txt", "Q1 Q5 P131"),
        ("--instances-of Q24", "Q1 Q4 Q5 P131"),
        ("--ids Q1 --hops 2 --along P131,P17", "Q1 Q2 Q3 P131"),
        ("--ids Q1 --hops 1 --along ladder", "Q1 Q2 Q20 P131"),
        ("--ids Q1 --hops 1", "Q1 Q2 Q20 P131"),
        ("--qa P131.test.json", "Q1 Q5 Q6 P131"),
        ("--qa qa.jsonl --qa qa.csv", "Q3 Q4 Q6 Q21 P131"),
    ],
)
def test_selections(run: Run, tmp_path: Path, options: str, expected: str) -> None:
    (tmp_path / "ids.txt").write_text(
        "# places\nQ1\n\nhttp://www.wikidata.org/entity/Q5, Springfield\n<https://www.wikidata.org/wiki/Property:P131>\n"
    )
    (tmp_path / "P131.test.json").write_text(
        json.dumps([{"question": "Where is Springfield located?", "answers": ["Ohio", "Atlantis"]}])
    )
    (tmp_path / "qa.jsonl").write_text('{"question": "?", "answer": "x", "answer_qid": "Q21"}\n')
    (tmp_path / "qa.csv").write_text("question,question_entity,answer\nWhat?,Ohio,washington\nWhat?,,United States\n")
    code, _, err = run("build", "world.json.gz", "--out", "w", *shlex.split(options))
    assert code == 0, err
    assert " ".join(ids_of(tmp_path / "w")) == expected


def test_rejected_lines_give_status_1(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d.json").write_bytes(lines(*WORLD[:2]).replace(b"]\n", b',\n{"id":\n]\n'))
    code, out, err = run("build", "d.json", "--out", "w")
    assert (code, out) == (1, "")
    assert "rejected: 1 not-json; listed in w.rejects.jsonl" in err
    assert json.loads((tmp_path / "w.rejects.jsonl").read_text())["line"] == 5
    assert "1 not-json" in run("info", "w")[1]
    assert run("verify", "w")[0] == 0


def test_repeats_and_warnings_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d.json").write_bytes(lines(WORLD[0], WORLD[0]))
    code, _, err = run("build", "d.json", "--out", "w", "--languages", "en,xx")
    assert code == 0
    assert "1 entit" in err
    assert "warning: no selected entity has a label in language 'xx'" in err


@pytest.mark.parametrize("flag", ["--exclude-instances-of", "--instances-of"])
def test_classes_that_nothing_belongs_to_are_told(run: Run, flag: str) -> None:
    code, _, err = run("build", "world.json.gz", "--out", "w", flag, "Q21,Q700000001,Q24,Q6")
    assert code == 0
    told = [line for line in err.splitlines() if "warning" in line]
    assert told == [
        f"warning: nothing read is an instance of {one} or of a class below; is the id right?"
        for one in ("Q6", "Q700000001")
    ]


@pytest.mark.parametrize("verb", ["build", "spark"])
def test_no_language_at_all_is_refused(run: Run, tmp_path: Path, verb: str) -> None:
    code, _, err = run(verb, "world.json.gz", "--out", "w", "--languages", "")
    assert code == 2
    assert "--languages names no language" in err
    assert not (tmp_path / "w").exists()


def test_rejected_qa_rows_give_status_1(run: Run, tmp_path: Path) -> None:
    (tmp_path / "qa.jsonl").write_text('{"question": "?", "answer": "Ohio"}\n{"question":\n')
    code, _, err = run("build", "world.json.gz", "--out", "w", "--qa", "qa.jsonl")
    assert code == 1
    assert "qa.jsonl:2" in err
    assert ids_of(tmp_path / "w") == ["Q6", "P131"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("build", "Missing option '--out'"),
        ("build --out w", "--from dump needs a file, or - for standard input"),
        ("build --from sparql --out w", "--from sparql takes one endpoint"),
        ("build --from api a b --out w", "--from api takes one URL or none, not 2"),
        ("build --from rdf world.json.gz --out w", "no RDF format has the ending .json"),
        ("build --from rdf none.nt --out w", "no such file: none.nt"),
        ("build none.json --out w", "no such file: none.json"),
        ("build world.json.gz --out w --languages de,English", "--languages 'English' is no code; expected en"),
        ("build --from api --ids Q1 --out w", "GRANOLA_CONTACT"),
        ("build . --out w", "is a folder"),
        ("build empty --out w", "empty is empty"),
        ("build /proc/self/mem --out w", "granola: mem cannot be read beyond 0 bytes: Input/output error"),
        ("build cut.gz --out w", "truncated"),
        ("build behind.json --out w", "behind.json: truncated: line 14 is cut, and the array is never closed."),
        ("build world.json.gz --out /proc/a", "cannot build /proc/a: no file can be made in /proc"),
        ("build world.json.gz --out w --ids Q1 --along P31", "--along says how steps are taken and needs --hops N"),
        ("build notes.txt --out w", "no item or property"),
        ("build world.json.gz --out notes.txt", "--force"),
        ("build world.json.gz --out world.json.gz --force", "both source and output"),
        ("build world.json.gz --out w --ids q1", "'q1' cannot be selected"),
        ("build world.json.gz --out w --ids Q999", "none of the 13 entities read is selected"),
        ("build world.json.gz --out w --hops 1", "select by ids, names or classes"),
        ("build world.json.gz --out w --hops -1", "--hops"),
        ("build world.json.gz --out w --ids Q1 --hops 1 --along stairs", "'stairs' cannot be selected"),
        ("build world.json.gz --out w --ids-from notes.txt", "notes.txt, line 1: 'hello' is no id"),
        ("build world.json.gz --out w --ids-from empty", "no id in it"),
        ("info notes.txt", "notes.txt is no snapshot: it is no SQLite file"),
        ("info other.sqlite", "an SQLite file of another program"),
        ("info newer", "schema version 99; this version"),
        ("verify empty", "empty is no snapshot: it is empty"),
    ],
)
def test_wrong_input_gives_status_2_and_leaves_nothing(
    run: Run, tmp_path: Path, dump: Path, monkeypatch: pytest.MonkeyPatch, words: str, message: str
) -> None:
    monkeypatch.delenv("GRANOLA_CONTACT", raising=False)
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "cut.gz").write_bytes(dump.read_bytes()[:-20])
    (tmp_path / "behind.json").write_bytes(lines(*WORLD).removesuffix(b"}\n]\n"))
    (tmp_path / "notes.txt").write_text("hello world\n" * 50)
    sqlite3.connect(tmp_path / "other.sqlite").execute("CREATE TABLE x (y)").connection.commit()
    run("build", "world.json.gz", "--out", "newer")
    with sqlite3.connect(tmp_path / "newer") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    code, out, err = run(*words.split())
    assert (code, out) == (2, "")
    assert message in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_truncated_source_can_be_kept(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cut.json").write_bytes(lines(*WORLD)[:-40])
    code, _, err = run("build", "cut.json", "--out", "w", "--keep-partial")
    assert code == 1
    assert "rejected: 1 damaged-source; listed in" in err
    assert len(ids_of(tmp_path / "w")) == 12


def test_an_array_that_is_never_closed(run: Run, tmp_path: Path) -> None:
    """Cut at a line's end, all is kept, but not in silence; the pieces of one dump are whole together."""
    whole = lines(*WORLD).splitlines(keepends=True)
    for name, part in (("a", whole[:5]), ("b", whole[5:9]), ("c", whole[9:])):
        (tmp_path / name).write_bytes(b"".join(part))
    code, _, err = run("build", "a", "--out", "w")
    assert code == 1
    assert "warning: a: the array that it opens is never closed" in err
    assert len(ids_of(tmp_path / "w")) == 4
    assert run("build", "a", "b", "--out", "w", "--force")[0] == 1
    code, _, err = run("build", "a", "b", "c", "--out", "w", "--force")
    assert (code, len(ids_of(tmp_path / "w"))) == (0, 13)
    assert "warning" not in err


def test_verify_finds_damage(run: Run, tmp_path: Path) -> None:
    run("build", "world.json.gz", "--out", "w")
    with sqlite3.connect(tmp_path / "w") as connection:
        connection.execute("DELETE FROM statement WHERE subject = 1")
    connection.close()
    code, out, _ = run("verify", "w")
    assert code == 1
    assert "w: statements: the manifest says 17, found is 15" in out
    os.truncate(tmp_path / "w", 8192)
    code, out, _ = run("verify", "w")
    assert code == 1
    assert "truncated" in out


def test_standard_input_and_force(run: Run, tmp_path: Path) -> None:
    data = gzip.compress(b"\n".join(orjson.dumps(entity_json(one)) for one in WORLD))
    for words in (("--out", "w"), ("--out", "w", "--force")):
        assert run("build", "-", *words, stdin=data)[0] == 0
    assert len(ids_of(tmp_path / "w")) == 13


def test_truthy_data_is_warned_of(run: Run, tmp_path: Path) -> None:
    one = "<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P31>"
    (tmp_path / "truthy.nt").write_text(f"{one} <http://www.wikidata.org/entity/Q2> .\n")
    code, _, err = run("build", "--from", "rdf", "truthy.nt", "--out", "w")
    assert code == 0
    assert "warning: truthy statements alone" in err
    assert "not time-aware" in run("info", "w")[1]


@pytest.mark.parametrize("every", [0.0, 30.0])
def test_an_interrupt_says_what_becomes_of_the_work(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: float
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(ingestion, "EVERY", every)
        during.setattr(snapshot_build, "phase_progress", lambda _: nullcontext(stop))
        code, out, err = run("build", "world.json.gz", "--out", "w")
    told = "granola: interrupted; the same command goes on with what is kept, if anything is\n"
    assert (code, out, err) == (130, "", told)
    assert not (tmp_path / "w").exists()
    assert run("build", "world.json.gz", "--out", "w")[0] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w", "world.json.gz"]
