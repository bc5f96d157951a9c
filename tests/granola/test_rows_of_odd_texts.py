"""Rows whose texts have no letters or digits, and what no file can hold: none is a fault of the program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstraction.base.faults import FAULT, RejectedRow
from abstraction.files.rows import TieredRow, read_questions, read_tiered, write_tiered
from abstraction.maker.pipeline import make_ladders
from granola.evidence.audit.offences import audit
from granola.matching import matcher
from granola.matching.matchers import MatchCase, Verdict, match_many
from granola.scoring.predictions import Prediction
from granola.scoring.scores import USUAL, score_items
from tests.granola.rows_fed import WORLD, write
from tests.thorough import examples
from tests.worlds import store_of

pytestmark = pytest.mark.thorough("abstraction", "granola")

STORE = store_of(*WORLD[-7:])
SIGNS = [*" ,.()[]{}?!-–—'\"/|*_&%#<>\\°@=+:;`´", "''", "'s", "\t", "\n", "\u2028", "\u200b", "\u0301", "²", "½"]
WORDS = ["the", "of", "in", "Berlin", "Germany", "1961"]
signs = st.lists(st.sampled_from(SIGNS), min_size=1, max_size=5).map("".join)
texts = st.one_of(signs, signs, st.lists(st.sampled_from([*SIGNS, *WORDS]), min_size=1, max_size=5).map("".join))
asked = st.builds(
    str.format,
    st.sampled_from(
        ["Where is {}?", "Where was {} born?", "Who wrote {}?", "When was {} born?", "{}", "What is {} of?"]
    ),
    texts,
)
subjects = st.one_of(
    st.none(),
    texts,
    st.builds(lambda text: {"text": text}, texts),
    st.builds(lambda t: {"text": t, "qid": "Q64"}, texts),
)
relations = st.sampled_from([None, "P19", "P50", "P36", "P569", "P2048", "P106", "P9999"])
languages = st.sampled_from(["en", "de"])
FEW = settings(max_examples=examples(40), deadline=None)


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    """A question with its answers."""
    told: dict[str, Any] = {"question": draw(asked), "answer": draw(st.one_of(texts, st.lists(texts, min_size=1)))}
    told |= {"relation": draw(relations), "question_entity": draw(subjects)}
    told |= {"answer_entity_description": draw(st.one_of(st.none(), texts))}
    if isinstance(told["answer"], str) and draw(st.booleans()):
        told["answer_qid"] = draw(st.sampled_from(["Q64", "Q42", "Q937"]))
    return told


@st.composite
def tiered(draw: st.DrawFn) -> dict[str, Any]:
    """A tiered row that somebody else has made."""
    tier = st.fixed_dictionaries(
        {"text": texts},
        optional={"qid": st.sampled_from(["Q64", "Q183"]), "aliases": st.lists(texts, max_size=2)},
    )
    levels = st.lists(st.builds(lambda tiers: {"tiers": tiers}, st.lists(tier, min_size=1, max_size=2)), max_size=3)
    answer = draw(texts)
    return {
        "question": draw(asked), "answer": answer, "relation": draw(relations), "question_entity": draw(subjects),
        "levels": [{"tiers": [{"text": answer}]}, *draw(levels)],
    }  # fmt: skip


def numbered(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"id": str(n), **row} for n, row in enumerate(rows)]


def no_faults(told: Sequence[RejectedRow]) -> None:
    assert [row for row in told if FAULT in row.reason] == []


@FEW
@given(st.lists(questions(), min_size=1, max_size=5), languages)
def test_ladders(rows: list[dict[str, Any]], language: str) -> None:
    told: list[RejectedRow] = []
    with TemporaryDirectory() as folder:
        path = write(Path(folder) / "qa.jsonl", numbered(rows))
        asked = list(read_questions([path], on_reject=told.append))
        made = list(make_ladders(asked, STORE, language=language, on_reject=told.append))
        assert [row.id for row in made] == [row.id for row in asked]
        out = Path(folder) / "out.csv"
        write_tiered(made, out)
        back = list(read_tiered(out, on_reject=told.append))
    no_faults(told)
    assert [row.to_json()["levels"] for row in back] == [row.to_json()["levels"] for row in made]


@FEW
@given(st.lists(tiered(), min_size=1, max_size=5), st.data())
def test_scores_and_audits(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    told: list[RejectedRow] = []
    with TemporaryDirectory() as folder:
        path = write(Path(folder) / "tiers.jsonl", numbered(rows))
        kept: list[TieredRow] = list(read_tiered(path, on_reject=told.append))
    said = {row.id: Prediction(id=row.id, text=data.draw(texts)) for row in kept}
    for name in ("rules", "f1", "em"):
        items = [item for _, item in score_items(kept, said, matcher(name), USUAL, on_reject=told.append)]
        assert len(items) == len(kept)
    for by_evidence in (False, True):
        audit(kept, STORE, by_evidence=by_evidence, rejected=told)
    no_faults(told)


@FEW
@given(texts, st.lists(st.lists(texts, min_size=1, max_size=3), min_size=1, max_size=3), asked, languages)
def test_matching(prediction: str, levels: list[list[str]], question: str, language: str) -> None:
    case = MatchCase(prediction=prediction, levels=levels, question=question, language=language)
    for name in ("rules", "f1", "em"):
        (found,) = match_many(matcher(name), [case], keep_faults=True)
        assert isinstance(found, Verdict), found
