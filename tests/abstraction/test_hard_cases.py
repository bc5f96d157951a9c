"""The hard cases: every ladder whose traps were found by reading real answers, one row each.

A row of data/hard_cases.jsonl asks one question; `answer_qid` is handed over where `given`, else it is the
only entity that linking may choose. `expected` lists levels beyond the answer, fine to coarse, as sets of tiers (a
tier is a text, or a list of texts of which one will do); {"optional": tiers} may be missing. Each expected
level must be stated by one level of the ladder, a later one than the level before; other tiers may stand
between. Where `expect_abstain` stands beside `expected`, either will do. `forbidden` texts are no tier's name
and `forbidden_words` in none; `not_alone` texts share their level; `answer_also` are names of the answer
itself; `tier_qids` tells homonymous tiers apart. `xfail` says why a case does not hold yet. The ladders are those of
the answers, with what the question tells left in: `test_told_in_question` is about that.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import QARow, TieredRow
from abstraction.maker.pipeline import LadderMaker
from kg.base.model import normalise
from kg.store.sqlite import SQLiteStore

FILE = Path(__file__).resolve().parents[1] / "data" / "hard_cases.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def name_of(case: dict[str, Any]) -> str:
    return f"{case['number']}{case.get('part', '')}-{case['relation']}-{case['answer']}"


def bare(text: str) -> str:
    """A name as compared here: normalised and without its article."""
    words = normalise(text).split(" ")
    return " ".join(words[1:] if len(words) > 1 and words[0] in ("a", "an", "the") else words)


def says(tier: Tier, wanted: str | list[str]) -> bool:
    texts = [wanted] if isinstance(wanted, str) else wanted
    return not {bare(text) for text in texts}.isdisjoint(bare(name) for name in tier.names())


def states(level: Level, tiers: list[str | list[str]]) -> bool:
    return all(any(says(tier, wanted) for tier in level.tiers) for wanted in tiers)


def unstated(row: TieredRow, expected: list[Any]) -> str | None:
    """The first expected level that no level states in its turn, or None."""
    at = 0
    for entry in expected:
        optional = isinstance(entry, dict)
        tiers = entry["optional"] if optional else entry
        found = next((n for n in range(at + 1, len(row.levels)) if states(row.levels[n], tiers)), None)
        if found is not None:
            at = found
        elif not optional:
            return f"no level after level {at + 1} states {tiers}"
    return None


def complaints(case: dict[str, Any], row: TieredRow) -> Iterator[str]:
    beyond = [tier for level in row.levels[1:] for tier in level.tiers]
    names = [name for tier in beyond for name in tier.names()]
    abstains = row.abstained is not None and row.abstained in case.get("expect_abstain", ())
    if not abstains:
        if case["expected"]:
            if row.abstained is not None:
                yield f"abstained: {row.abstained}"
            if problem := unstated(row, case["expected"]):
                yield problem
            linked = row.levels[0].tiers[0].qid
            if linked and case["answer_qid"] not in (None, linked):
                yield f"linked to {linked}, not {case['answer_qid']}"
        else:
            yield f"abstained: {row.abstained}, expected one of {case.get('expect_abstain')}"
    for text in case.get("forbidden", ()):
        if bare(text) in {bare(name) for name in names}:
            yield f"{text!r} is no tier here"
    for words in case.get("forbidden_words", ()):
        if any(normalise(words) in normalise(tier.text) for tier in beyond):
            yield f"{words!r} stands in a tier"
    for text in case.get("not_alone", ()):
        if any(len(level.tiers) == 1 and says(level.tiers[0], text) for level in row.levels[1:]):
            yield f"{text!r} stands alone"
    for text in case.get("answer_also", ()):
        if not any(says(tier, text) for tier in row.levels[0].tiers):
            yield f"{text!r} is no name of the answer"
    for text, qid in case.get("tier_qids", {}).items():
        if not any(tier.qid == qid and says(tier, text) for tier in beyond):
            yield f"{text!r} is not {qid}"


def question(case: dict[str, Any]) -> QARow:
    extra = {}
    if case["answer_description"]:
        extra["answer_entity_description"] = case["answer_description"]
    return QARow(
        id=name_of(case),
        question=case["question"],
        answers=(case["answer"],),
        answer_qids=(case["answer_qid"] if case["given"] else None,),
        relation=case["relation"],
        subject_text=case["subject"],
        subject_qid=case["subject_qid"],
        extra=extra,
    )


@pytest.fixture(scope="module")
def maker(sample_snapshot: Path) -> Iterator[LadderMaker]:
    with SQLiteStore.open(sample_snapshot) as store:
        yield LadderMaker(store, as_asked=False)


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            case,
            id=name_of(case),
            marks=pytest.mark.xfail(strict=True, reason=case["xfail"]) if case["xfail"] else (),
        )
        for case in CASES
    ],
)
def test_hard_case(case: dict[str, Any], maker: LadderMaker) -> None:
    row = maker.make(question(case))
    problems = list(complaints(case, row))
    if problems:
        shown = " > ".join(" | ".join(tier.text for tier in level.tiers) for level in row.levels)
        pytest.fail(f"{shown}: {'; '.join(problems)}", pytrace=False)


def test_no_case_is_dropped() -> None:
    assert {case["number"] for case in CASES} == set(range(1, 113))
    assert len({name_of(case) for case in CASES}) == len(CASES)


def test_the_checker_complains() -> None:
    """Each kind of complaint, once: a check that never fails would hide every defect above."""

    def ladder(*levels: list[str], abstained: str | None = None) -> TieredRow:
        made = tuple(Level(tiers=tuple(Tier(text=text) for text in level)) for level in levels)
        return TieredRow(id="x", question="?", answers=("A",), levels=made, abstained=abstained)

    case: dict[str, Any] = {
        "expected": [["B", ["C", "the D"]], {"optional": ["E"]}, ["F"]],
        "given": True,
        "answer_qid": None,
    }
    assert not list(complaints(case, ladder(["A"], ["B", "D"], ["X"], ["F"])))
    assert list(complaints(case, ladder(["A"], ["B"], ["D"], ["F"])))
    assert list(complaints(case, ladder(["A"], ["F"], ["B", "C"])))
    assert list(complaints(case, ladder(["A"], ["B", "C", "F"])))
    assert list(complaints(case, ladder(["A"], abstained="no-link")))
    assert not list(complaints(case | {"expect_abstain": ["no-link"]}, ladder(["A"], abstained="no-link")))
    assert list(complaints(case | {"forbidden": ["an x"]}, ladder(["A"], ["B", "D"], ["X"], ["F"])))
    assert list(complaints(case | {"forbidden_words": ["x y"]}, ladder(["A"], ["B", "D"], ["X Y Z"], ["F"])))
    assert list(complaints(case | {"not_alone": ["F"]}, ladder(["A"], ["B", "D"], ["F"])))
    assert list(complaints(case | {"answer_also": ["Z"]}, ladder(["A"], ["B", "D"], ["F"])))
    assert list(complaints(case | {"tier_qids": {"F": "Q1"}}, ladder(["A"], ["B", "D"], ["F"])))
    linked = replace(
        ladder(["A"], ["B", "D"], ["F"]),
        levels=(Level(tiers=(Tier(text="A", qid="Q2"),)), *ladder(["B", "D"], ["F"]).levels),
    )
    assert list(complaints(case | {"answer_qid": "Q1"}, linked))
    abstaining = case | {"expected": [], "expect_abstain": ["type-conflict"]}
    assert list(complaints(abstaining, ladder(["A"], abstained="no-link")))
