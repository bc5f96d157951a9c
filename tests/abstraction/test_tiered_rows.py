"""Tiered rows in each format: what survives, what is rejected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from abstraction.base.faults import RejectedRow
from abstraction.base.tiers import Evidence, Level, Tier
from abstraction.errors import RowError
from abstraction.files.rows import TieredRow, read_tiered, write_tiered
from abstraction.files.writing import check_kind
from tests.abstraction.row_files import GRANOLA, put, read


def test_granola_eq_is_read_as_questions_and_as_tiers_and_written_back(tmp_path: Path) -> None:
    file = put(tmp_path / "granola.jsonl", json.dumps(GRANOLA))
    (row,), _ = read(file)
    assert row.answer_qids == ("Q1748301",)
    assert (row.subject_text, row.subject_qid) == ("Arthur Gee", "Q4798793")
    assert row.extra["reference_levels"] == [["Earlestown"], ["Merseyside"], ["England"]]
    assert row.extra["answer_entity_description"] == "town in Merseyside"
    (tiered,) = read_tiered(file)
    assert [level.tiers[0].text for level in tiered.levels] == ["Earlestown", "Merseyside", "England"]
    assert tiered.levels[0].tiers[0].qid == "Q1748301"
    for name in ("back.jsonl", "back.csv", "back.parquet"):
        if name.endswith("parquet"):
            pytest.importorskip("pyarrow")
        assert write_tiered([tiered], tmp_path / name, as_granola_eq=True) == 1
        (again,) = read_tiered(tmp_path / name)
        assert again.levels == tiered.levels
        assert again.question_entity == tiered.question_entity
        (question,), _ = read(tmp_path / name)
        assert question.answer_qids == row.answer_qids
    columns = json.loads((tmp_path / "back.jsonl").read_text())
    assert columns.pop("schema_version") == 1
    assert list(columns) == list(GRANOLA)


TIERED = TieredRow(
    id="x|1",
    question='Who "did" it, and why?',
    answers=("A|B", "C"),
    relation="P50",
    question_entity={"qid": "Q5", "text": "É"},
    levels=(
        Level(tiers=(Tier(text="A|B", qid="Q1", aliases=("a", "ß")),)),
        Level(
            tiers=(
                Tier(
                    text="a writer",
                    bits=3.25,
                    evidence=(
                        Evidence(kind="statement", subject="Q1", property="P106", value="Q36180",
                                 statement="Q1$x",
                                 labels={"Q36180": "writer"}),
                        Evidence(kind="description", subject="Q1", language="en", text="a b", span=(0, 1)),
                    ),
                ),
                Tier(text="a poet", evidence=(Evidence(kind="rule", text="r"),)),
            )
        ),
    ),
    extra={"split": "dev", "links": [{"qid": "Q1"}]},
)  # fmt: skip
ABSTAINED = TieredRow(
    id="y", question="Q?", answers=("Z",), levels=(Level(tiers=(Tier(text="Z"),)),), abstained="no-link"
)


def test_tiered_json_has_the_documented_shape() -> None:
    data = TIERED.to_json()
    assert list(data) == [
        "id",
        "question",
        "relation",
        "question_entity",
        "answer",
        "levels",
        "split",
        "links",
    ]
    assert data["levels"][1]["tiers"][0] == {
        "text": "a writer",
        "aliases": [],
        "bits": 3.25,
        "evidence": [
            {"kind": "statement", "subject": "Q1", "property": "P106", "value": "Q36180", "statement": "Q1$x",
             "labels": {"Q36180": "writer"}},
            {"kind": "description", "subject": "Q1", "language": "en", "text": "a b", "span": [0, 1]},
        ],
    }  # fmt: skip
    assert "abstained" not in data
    assert ABSTAINED.to_json() == {
        "id": "y", "question": "Q?", "answer": ["Z"],
        "levels": [{"tiers": [{"text": "Z", "aliases": [], "evidence": []}]}], "abstained": "no-link",
    }  # fmt: skip


FOREIGN = {
    "id": "f", "question": "Q?", "question_entity": {"text": "S", "kind": "film"}, "answer": ["A"],
    "levels": [
        {"tiers": [{"text": "A", "aliases": [], "evidence": [], "reviewed": True}], "score": 0.5},
        {"tiers": [{"text": "b", "aliases": [], "evidence": [{"kind": "rule", "text": "r", "by": {"name": "x"}}]}]},
    ],
    "votes": {"yes": [1, 2]},
}  # fmt: skip


@pytest.mark.parametrize("name", ["f.jsonl", "f.csv", "f.parquet"])
def test_unknown_fields_survive_wherever_they_stand(tmp_path: Path, name: str) -> None:
    (row,) = read_tiered(put(tmp_path / "in.jsonl", json.dumps(FOREIGN)))
    assert row.to_json() == FOREIGN
    write_tiered([row], tmp_path / name)
    (again,) = read_tiered(tmp_path / name)
    assert again.levels == row.levels
    assert again.question_entity == row.question_entity
    assert set(again.extra) >= {"votes"}


@pytest.mark.parametrize("name", ["t.jsonl", "t.csv", "t.parquet"])
def test_tiered_rows_survive_each_format(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    assert write_tiered([TIERED, ABSTAINED], tmp_path / name) == 2
    one, two = read_tiered(tmp_path / name)
    assert (one.id, one.question, one.answers, one.relation) == ("x|1", TIERED.question, ("A|B", "C"), "P50")
    assert one.levels == TIERED.levels
    assert one.question_entity == TIERED.question_entity
    assert one.extra["split"] == "dev"
    assert two == ABSTAINED
    if name == "t.jsonl":
        assert one == TIERED
        lines = (tmp_path / name).read_text().splitlines()
        assert [json.loads(line).get("schema_version") for line in lines] == [1, None]
    assert [r.id for r in read(tmp_path / name)[0]] == ["x|1", "y"]


def test_writing_leaves_nothing_when_the_rows_fail(tmp_path: Path) -> None:
    def rows() -> Any:
        yield TIERED
        raise RuntimeError("stop")

    for name in ("t.jsonl", "t.csv"):
        with pytest.raises(RuntimeError):
            write_tiered(rows(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RowError, match="not known"):
        write_tiered([], tmp_path / "t", format="xml")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"id": "1", "question": "Q?", "answer": "A"}', "no levels"),
        ('{"id": "1", "question": "Q?", "answer": "A", "levels": []}', "no levels"),
        ('{"id": "1", "question": "Q?", "answer": "A", "levels": [{"tiers": []}]}', "no levels"),
        ('{"id": "1", "question": "Q?", "answer": "A", "levels": [{"tiers": [{}]}]}', "malformed"),
        (
            '{"id": "1", "question": "Q?", "answer": "A", "levels": [{"tiers": [{"text": "A", "bits": "many"}]}]}',
            "bits",
        ),
        ('{"id": "1", "question": "Q?", "answer": "A", "levels": [{"tiers": [{"text": "A", "bits": -1}]}]}', "bits"),
        ('{"id": "1", "question": "Q?", "answer": "A", "levels": [{"tiers": [{"text": "A", "bits": true}]}]}', "bits"),
        ('{"id": "1", "question": "Q?", "answer": "A", "levels": [{"tiers": [{"text": "A", "bits": NaN}]}]}', "bits"),
        ('{"id": "1", "question": "Q?", "answer": "A", "levels": [{"tiers": [{"text": 1}]}]}', "no levels"),
        ('{"id": "1", "question": "Q?", "answer": "A", "levels": "London"}', "no levels"),
        ('{"id": "1", "question": "Q?", "levels": ["A"]}', "no answer"),
    ],
)
def test_bad_tiered_rows(tmp_path: Path, line: str, reason: str) -> None:
    file = put(tmp_path / "t.jsonl", line)
    with pytest.raises(RowError, match=reason):
        list(read_tiered(file))
    rejected: list[RejectedRow] = []
    assert list(read_tiered(file, on_reject=rejected.append)) == []
    assert len(rejected) == 1


@pytest.mark.parametrize("entity", [{"text": "Obama", "qid": "Q76"}, {"qid": "Q76", "text": "Obama", "note": 1}])
def test_a_tiered_row_reads_back_to_the_byte(entity: dict[str, object]) -> None:
    data = {"id": "1", "question": "?", "question_entity": entity, "answer": ["a"],
            "levels": [{"tiers": [{"text": "a", "aliases": [], "evidence": []}]}]}  # fmt: skip
    assert json.dumps(TieredRow.from_json(data).to_json()) == json.dumps(data)


@pytest.mark.parametrize("bits", [10**400, 1e7, -1, float("inf")])
def test_bits_out_of_range(bits: float) -> None:
    with pytest.raises(TypeError, match=r"from 0 to 1,000,000"):
        Tier.from_json({"text": "Berlin", "bits": bits})


def test_what_is_written_in_one_format_has_no_name_of_another() -> None:
    for ending in ("", ".jsonl", ".JSONL"):
        check_kind(f"out{ending}", "jsonl")
    check_kind("out.jsonl.gz", "jsonl", may_be_packed=True)
    for ending in (".csv", ".parquet", ".csv.gz", ".CSV", ".txt", ".json.zip", ".jsonl.gz"):
        with pytest.raises(RowError, match=f"out{ending}: --out is written as jsonl"):
            check_kind(f"out{ending}", "jsonl")
