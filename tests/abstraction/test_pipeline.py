"""Rows through the whole pipeline: several answers, abstention, dates, determinism, invariants."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstraction.base.tiers import MAX_LEVELS, MAX_TIERS
from abstraction.errors import UnknownRelationError
from abstraction.files.rows import TieredRow
from abstraction.maker.pipeline import LadderMaker, make_ladders
from kg.base.model import Entity, normalise
from tests.thorough import examples
from tests.worlds import entity, maker, row, store_of, texts

GERMANY = entity("Q183", "Germany", "country in Central Europe", P31="Q3624078")
THURINGIA = entity("Q1205", "Thuringia", P31="Q10864048", P131="Q183")
ERFURT = entity("Q1729", "Erfurt", aliases=["Erfordia"], P31="Q515", P131="Q1205")
BERLIN = entity("Q64", "Berlin", P31="Q515", P131="Q183")


def test_level_one_is_the_answer_with_its_aliases() -> None:
    made = maker(GERMANY, THURINGIA, ERFURT).make(row("Erfurt", qid="Q1729"))
    first = made.levels[0].tiers[0]
    assert (first.text, first.qid, first.aliases) == ("Erfurt", "Q1729", ("Erfordia",))
    assert made.abstained is None
    assert made.extra["links"] == [{"qid": "Q1729", "confidence": "given", "rule": "given"}]


def test_several_answers_make_one_ladder_graded_with_the_best() -> None:
    made = maker(GERMANY, THURINGIA, ERFURT, BERLIN).make(row(["Erfurt", "Berlin"]))
    texts = [[t.text for t in level.tiers] for level in made.levels]
    assert texts == [["Erfurt", "Berlin"], ["Thuringia"], ["Germany"]]


def test_one_unknown_answer_does_not_cost_the_other_its_ladder() -> None:
    made = maker(GERMANY, BERLIN).make(row(["Atlantis", "Berlin"]))
    assert [[t.text for t in level.tiers] for level in made.levels] == [["Atlantis", "Berlin"], ["Germany"]]
    assert made.abstained is None


@pytest.mark.parametrize(
    ("answer", "relation", "code"),
    [
        ("Atlantis", "P19", "no-link"),
        ("Berlin", "P136", "type-conflict"),
        ("Nowhere", "P19", "no-description-and-no-statements"),
    ],
)
def test_abstention_keeps_the_row(answer: str, relation: str, code: str) -> None:
    made = maker(GERMANY, BERLIN, entity("Q7", "Nowhere", P31="Q515")).make(row(answer, relation))
    assert (len(made.levels), made.abstained) == (1, code)


@pytest.mark.parametrize(
    ("answer", "levels"),
    [
        ("45.3%", [["45.3%"], ["about 45%"]]),
        ("-195.8 °C", [["-195.8 °C"], ["about -196 °C"], ["about -200 °C"]]),
        ("79", [["79"]]),
        ("127 Hours", [["127 Hours"]]),
    ],
)
def test_a_unit_tells_an_amount_where_the_question_does_not(answer: str, levels: list[list[str]]) -> None:
    made = maker(GERMANY).make(row(answer, None, question="What does it say?"))
    assert [[t.text for t in level.tiers] for level in made.levels] == levels


def test_a_gold_id_of_the_wrong_class_abstains() -> None:
    made = maker(entity("Q9", "The D-Generation", P31="Q11424")).make(row("The D-Generation", "P19", qid="Q9"))
    assert made.abstained == "type-conflict"


def test_dates_need_no_link_and_take_the_subjects_statement_as_evidence() -> None:
    person = entity("Q76", "Ada Example", P31="Q5", P569=1815)
    made = maker(person).make(row("1815", "P569", subject="Ada Example", question="When was she born?"))
    assert texts(made)[0] == ["the 1810s"]
    assert made.levels[1].tiers[0].evidence[0].subject == "Q76"
    assert maker().make(row("not a date", "P569")).abstained == "unsupported-answer-class"


def test_without_a_relation_the_answer_decides() -> None:
    make = maker(GERMANY, THURINGIA, ERFURT)
    assert texts(make.make(row("Erfurt", None, question="Where is it?"))) == [["Thuringia"], ["Germany"]]
    assert texts(make.make(row("August 1961", None, question="When is it?")))[0] == ["1961"]


def test_an_unknown_relation_is_named() -> None:
    with pytest.raises(UnknownRelationError, match=r"place of brith.*nearest: P19"):
        maker().make(row("Erfurt", "place of brith"))


def test_a_given_subject_stays_even_where_the_snapshot_lacks_it() -> None:
    made = maker(GERMANY, BERLIN).make(row("Berlin", subject="Nobody Known", subject_qid="Q777"))
    assert made.question_entity == {"text": "Nobody Known", "qid": "Q777"}


def test_the_same_bytes_in_any_company() -> None:
    school = entity("Q555", "Erfurt School", P31="Q3918", P131="Q1729")
    store = store_of(GERMANY, THURINGIA, ERFURT, BERLIN, school)
    described = row("Erfurt", qid="Q1729", extra={"answer_entity_description": "city in Brandenburg, Germany"})
    rows = [row(["Erfurt", "Berlin"]), described, row("Berlin"), row("Erfurt"), row("Erfurt School", "P69")]
    together = [json.dumps(r.to_json()) for r in make_ladders(rows, store)]
    alone = [json.dumps(LadderMaker(store).make(r).to_json()) for r in rows]
    backwards = [json.dumps(r.to_json()) for r in make_ladders(rows[::-1], store)][::-1]
    assert together == alone == backwards


NAMES = st.sampled_from(["Alba", "Beta", "Alba County", "the Alba", "", "ÄÖ", "نهر", "a.b-c's", "New Alba", "x" * 300])
PLACE_CLASSES = st.sampled_from(["Q515", "Q3624078", "Q10864048", "Q5107", "Q11424", "Q900001"])


@st.composite
def worlds(draw: st.DrawFn) -> list[Entity]:
    """Places that contain one another at random: circles, self-loops, two states, names of every kind."""
    count = draw(st.integers(2, 9))
    ids = [f"Q{900001 + i}" for i in range(count)]
    out = []
    for i, qid in enumerate(ids):
        said: dict[str, list[str]] = {"P31": draw(st.lists(PLACE_CLASSES, max_size=2))}
        for prop in ("P131", "P17", "P361", "P279", "P30"):
            said[prop] = draw(st.lists(st.sampled_from([*ids, "Q999999"]), max_size=2))
        chain = draw(
            st.sampled_from(["", "city in Alba, Beta", "in", "Alba", "town of the Alba and Beta in Alba", "of of"])
        )
        out.append(entity(qid, draw(NAMES) if i else "Alba", chain, **said))  # type: ignore[arg-type]
    return out


def check(made: TieredRow) -> None:
    assert len(made.levels) <= 1 + MAX_LEVELS
    assert (made.abstained is not None) == (len(made.levels) == 1)
    named: dict[str, int] = {}
    for depth, level in enumerate(made.levels):
        assert level.tiers
        assert len(level.tiers) <= MAX_TIERS
        for tier in level.tiers:
            assert tier.text.strip()
            assert normalise(tier.text) not in named, "a tier repeats a finer one or its alias"
            if depth:
                assert tier.evidence
        for tier in level.tiers:
            for name in tier.names():
                named.setdefault(normalise(name), depth)


@given(worlds(), st.sampled_from(["P19", "P17", "P36", "P69", "P131", None]))
@settings(max_examples=examples(150), deadline=None)
def test_ladder_invariants_in_hostile_worlds(world: list[Entity], relation: str | None) -> None:
    make = maker(*world)
    for qid in [None, *(e.id for e in world)]:
        check(make.make(row("Alba", relation, qid=qid, question="Where was it?")))
