"""Triviality measured on the ladders of the answers that a relation has."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from abstraction.base.relations import relation, relations_by_id
from abstraction.base.tiers import Condition, Level, Tier
from abstraction.ladders.assembly import filters
from abstraction.ladders.assembly.filters import MeasuredRelations, RelationAnswerShares
from abstraction.ladders.proposals import LadderCase, Proposal
from abstraction.maker.pipeline import LadderMaker
from tests.worlds import entity, maker, row, texts

EMPLOYER = "P108"
UTOPIA = entity("Q1", "Utopia", "country", P31="Q3624078")
UNIVERSITIES = [
    entity(f"Q{100 + n}", f"University {n}", "university in Utopia", P31="Q3918", P17="Q1") for n in range(6)
]
BANDS = [entity(f"Q{200 + n}", f"Band {n}", "Utopian rock band", P31="Q215380") for n in range(3)]
BAND_CLASS = entity("Q215380", "musical group", aliases=["band"])


def world() -> LadderMaker:
    people = [
        entity(f"Q{300 + n}", f"Person {n}", P31="Q5", P108=answer.id)
        for n, answer in enumerate([*UNIVERSITIES, *BANDS])
    ]
    return maker(UTOPIA, BAND_CLASS, *UNIVERSITIES, *BANDS, *people)


def case(make: LadderMaker, prop: str = EMPLOYER, answer: str = "Q100", subject: str | None = None) -> LadderCase:
    return LadderCase(
        graph=make.graph, vocabulary=make.vocabulary, gazetteer=make.gazetteer, answer=answer, relation=relation(prop),
        subject=subject,
    )  # fmt: skip


def measured(make: LadderMaker) -> RelationAnswerShares:
    return RelationAnswerShares(make.graph, make.proposals, MeasuredRelations())


def bare(text: str, *conditions: tuple[str, str]) -> Proposal:
    return Proposal(key=text, text=text, conditions=frozenset(Condition(property=p, value=v) for p, v in conditions))


@pytest.mark.parametrize(
    ("proposal", "trivial"),
    [
        (bare("a university", ("P31", "Q3918")), True),
        (bare("a university", ("text", "kind:university")), True),
        (bare("a rock band", ("text", "kind:rock band")), False),  # a third of the answers
        (bare("a university", ("P31", "Q3918"), ("P17", "Q1")), False),  # says where, as its text would
        (bare("Utopia", ("self", "Q1")), False),
        (bare("nothing at all"), False),
    ],
)
def test_a_class_of_most_answers_is_trivial(proposal: Proposal, trivial: bool) -> None:
    assert EMPLOYER not in relations_by_id()
    make = world()
    assert measured(make).is_true_of_most_answers(case(make), proposal) is trivial


def test_shares_are_weighted_by_the_entities_that_carry_the_answer() -> None:
    more = [entity(f"Q{400 + n}", f"Fan {n}", P31="Q5", P108="Q200") for n in range(9)]
    people = [entity(f"Q{300 + n}", f"P {n}", P108=answer.id) for n, answer in enumerate([*UNIVERSITIES, *BANDS])]
    make = maker(UTOPIA, BAND_CLASS, *UNIVERSITIES, *BANDS, *people, *more)
    assert measured(make).entity_and_answer_shares(case(make), bare("a university")) == pytest.approx((6 / 18, 6 / 9))
    assert (
        measured(make).entity_and_answer_shares(case(make, "P9999"), bare("a university")) is None
    )  # nothing is known of its answers


def languages() -> list:  # type: ignore[type-arg]
    """Twenty languages, all of one family, and one answer of ten that is of a branch besides."""
    tongues = [
        entity(f"Q{1000 + n}", f"Tongue{n}ish", P31="Q34770", P279="Q2001" if n == 0 else "Q2000") for n in range(20)
    ]
    works = [entity(f"Q{3000 + n}", f"Work {n}", P407=f"Q{1000 + (n % 20 if n < 60 else 0)}") for n in range(300)]
    return [
        entity("Q2000", "Utopic languages", P31="Q25295"),
        entity("Q2001", "Northern languages", P31="Q25295", P279="Q2000"),
        *tongues,
        *works,
    ]


def test_what_one_frequent_answer_alone_is_told_to_be_tells_which_it_is() -> None:
    make = maker(*languages())
    asked = case(make, "P407", "Q1000")
    family, branch = (replace(bare(q, ("P407", q)), qid=q) for q in ("Q2000", "Q2001"))
    shares = measured(make).entity_and_answer_shares(asked, branch)
    assert shares is not None
    assert shares[0] > filters.TRIVIAL_SHARE
    assert shares[1] < filters.HALF
    assert not measured(make).is_true_of_most_answers(asked, branch)
    assert measured(make).is_true_of_most_answers(asked, family)
    made = make.make(row("Tongue0ish", "P407", question="Which language was it written in?"))
    assert texts(made) == [["a Northern language"]]


def test_where_answers_are_few_the_list_alone_counts() -> None:
    make = maker(*languages()[:10])
    assert (
        measured(make).entity_and_answer_shares(case(make, "P407", "Q1000"), replace(bare("Q2000"), qid="Q2000"))
        is None
    )


def test_answers_count_that_things_like_the_subject_have() -> None:
    """Novels are in Utopic languages; all other works are not."""
    tongues = languages()[:22]
    others = [entity(f"Q{5000 + n}", f"Idiom{n}ic", P31="Q34770", P279="Q2002") for n in range(30)]
    works = [entity(f"Q{6000 + n}", f"Novel {n}", P31="Q8261", P407=f"Q{1000 + n % 20}") for n in range(260)]
    rest = [entity(f"Q{7000 + n}", f"Song {n}", P31="Q7366", P407=f"Q{5000 + n % 30}") for n in range(900)]
    make = maker(*tongues, entity("Q2002", "Dystopic languages", P31="Q25295"), *others, *works, *rest)
    family = replace(bare("a Utopic language", ("P407", "Q2000")), qid="Q2000")
    assert measured(make).is_true_of_most_answers(case(make, "P407", "Q1000", "Q6001"), family)
    assert not measured(make).is_true_of_most_answers(case(make, "P407", "Q1000"), family)


def test_a_ladder_of_a_relation_without_a_row_ends_before_the_class_of_most_answers() -> None:
    make = world()
    for answer, last in (("Band 1", "band"), ("University 1", "university")):
        made = make.make(row(answer, EMPLOYER, question="Who employed them?"))
        named = {tier.removeprefix("a ").removeprefix("an ") for level in texts(made) for tier in level}
        assert (last in named) is (last == "band"), named


def test_bits_given_the_question_are_of_the_relations_answers() -> None:
    """Nine persons have an employer; six are universities in Utopia, each once, three bands."""
    make = world()
    found = make.make(row("University 0", EMPLOYER, question="Who employs Person 0?"))
    (answer,), (coarser,) = (level.tiers for level in found.levels)
    assert answer.bits_asked == pytest.approx(math.log2((9 + 1) / (1 + 1)))
    assert (coarser.text, coarser.bits_asked) == ("a university in Utopia", pytest.approx(-math.log2(6 / 9)))
    bands = make.make(row("Band 1", EMPLOYER, question="Who employs Person 7?"))
    assert [tier.bits_asked for level in bands.levels[1:] for tier in level.tiers] == pytest.approx([math.log2(3)] * 3)


def test_bits_given_the_question_never_rise_and_are_left_out_where_they_are_not_measured() -> None:
    make = world()
    for answer in ("University 3", "Band 0", "Band 2"):
        levels = make.make(row(answer, EMPLOYER)).levels
        most = [max(tier.bits_asked or 0.0 for tier in level.tiers) for level in levels]
        assert most == sorted(most, reverse=True)
        assert all(bits >= 0 for bits in most)
    too_few = make.make(row("University 0", "P127"))  # nothing has an owner
    assert all(tier.bits_asked is None for level in too_few.levels for tier in level.tiers)


def test_bits_given_the_question_are_written_and_read() -> None:
    (level,) = (Level.from_json(Level(tiers=(Tier(text="x", bits_asked=1.23456),)).to_json()),)
    assert level.tiers[0].bits_asked == 1.235
    with pytest.raises(TypeError, match="bits"):
        Tier.from_json({"text": "x", "bits_asked": -1})
    with pytest.raises(TypeError, match="bits"):
        Tier.from_json({"text": "x", "bits_asked": True})
