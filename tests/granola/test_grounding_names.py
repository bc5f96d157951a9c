"""What passages are called, and how they stand in a file, changes no prompt and no score."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from abstraction.models.chat_model import Request
from granola.evidence.grounding.answer_judging import AnswerJudge, ChatSentenceJudge
from granola.evidence.grounding.answer_text import cited_passages, deflecting_rule, without_markers
from granola.evidence.grounding.grounded_rows import GroundedSample, read_grounded
from granola.evidence.grounding.grounding_task import GroundingItem
from tests.abstraction.scripted_model import Scripted
from tests.grounding_world import own_rows, word_judge
from tests.thorough import thorough_only

# How passage 1, 2, ... is called.
NAMES: dict[str, Callable[[int], str]] = {
    "numbers": str,
    "cite_N": lambda n: f"cite_{n}",
    "doc-a": lambda n: f"doc-{'abcdefghijkl'[n - 1]}",
    "web_7": lambda n: f"web_{n + 6}",
    "both kinds": lambda n: f"web_{n}" if n % 2 else f"mail-{'abcdefghijkl'[n - 1]}",
}
# What may be answered to every question, {1} being the name of passage 1.
ANSWERS = (
    "The passages [{1}][{2}] do not mention the date.",
    "The passages [{1}, {2}] do not mention the date. They tell of its history [{3}].",
    "While the passages [{1}][{2}] discuss it, none mention the date.",
    "It is not made of steel [{1}], nor of wood [{2}].",
    "According to [{1}], it did not open. [{2}] says that it did [{2}; {3}].",
    "There is not enough information in the passages to determine this [{1}][{2}].",
    "There is no evidence of harm [{1}].",
    "No [{1}].",
    "- It opened in 1999 (source {1})\n- It closed ([{2}], [{3}])\n\nSources: [{1}], [{2}]",
    "It opened. [{1}] It closed. [{2}]\n[{3}]",
    "[{1}]",
    "",
)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[GroundedSample, str]]:
    """The questions written for tests, each with its reference, its passages word for word, and one of the answers."""
    path = tmp_path_factory.mktemp("names") / "questions.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, own_rows())))
    asked: list[tuple[GroundedSample, str]] = []
    for at, sample in enumerate(read_grounded(path)):
        copied = " ".join(f"{passage.text} [{{{passage.id}}}]" for passage in sample.passages)
        reference = re.sub(r"\[(\d+)\]", r"[{\1}]", sample.reference)
        for answer in (reference, copied, ANSWERS[at % len(ANSWERS)], ANSWERS[(at * 7 + 3) % len(ANSWERS)]):
            asked.append((replace(sample, id=f"{sample.id}/{len(asked)}", reference=reference), answer))
    assert len(asked) == 4 * 32
    return asked


def _renamed(sample: GroundedSample, answer: str, called: Callable[[int], str]) -> tuple[GroundedSample, str]:
    """A question and an answer with other names; the passages stand the other way round where they are no numbers."""
    names = {passage.id: called(int(passage.id)) for passage in sample.passages}
    passages = [passage.model_copy(update={"id": names[passage.id]}) for passage in sample.passages]
    renamed = replace(
        sample,
        passages=tuple(passages if called is str else passages[::-1]),
        cited=tuple(names[one] for one in sample.cited or ()),
        reference=_filled(sample.reference, names),
    )
    return renamed, _filled(answer, names)


def _filled(text: str, names: dict[str, str]) -> str:
    return re.sub(r"\{(\d+)\}", lambda match: names[match[1]], text)


def _reply(request: Request) -> str:
    """A verdict that follows from every letter of the prompt."""
    text = request.messages[-1].content

    def chosen(words: Sequence[str], of: str) -> str:
        return words[hashlib.sha256(f"{text}{of}".encode()).digest()[0] % len(words)]

    if "<sentences>" in text:
        numbers = re.findall(r"^- (\d+):", text.split("<sentences>")[1], re.MULTILINE)
        return "\n".join(f"{n}: {chosen(('supported', 'unsupported', 'contradictory', 'none'), n)}" for n in numbers)
    if request.id.endswith("deflection"):
        return chosen(("answers", "deflects"), "")
    return chosen(("no issues", "minor issues", "major issues"), "")


def _scores(item: GroundingItem, ids: Sequence[str]) -> dict[str, Any]:
    """All that is found of an answer; its text and sentences without their citations."""
    scores = item.model_dump(mode="json")
    del scores["answer"]
    for sentence in scores["sentences"]:
        sentence["text"] = without_markers(sentence["text"], ids)
    return scores


def _judged(
    pairs: Sequence[tuple[GroundedSample, str]], called: Callable[[int], str], *, asks: bool
) -> tuple[list[object], list[dict[str, Any]]]:
    """Every prompt in order, and what is found of every answer."""
    model = Scripted(_reply)
    judge = AnswerJudge(
        sentences=ChatSentenceJudge(model=model) if asks else word_judge(), chat=model, asks_deflection=asks
    )
    renamed = [_renamed(sample, answer, called) for sample, answer in pairs]
    scores = [
        _scores(item, [passage.id for passage in sample.passages])
        for (sample, _), item in zip(renamed, judge.judge(renamed), strict=True)
    ]
    return [(request.id, request.messages) for request in model.asked], scores


@thorough_only
@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("family", [name for name in NAMES if name != "numbers"])
def test_names_and_order_of_passages_change_no_prompt_and_no_score(
    pairs: list[tuple[GroundedSample, str]], family: str, asks: bool
) -> None:
    prompts, scores = _judged(pairs, str, asks=asks)
    prompts_renamed, scores_renamed = _judged(pairs, NAMES[family], asks=asks)
    assert prompts_renamed == prompts
    assert scores_renamed == scores
    called = [NAMES[family](number) for number in range(1, 9)]
    assert not [name for name in called if any(name in message.content for _, asked in prompts for message in asked)]


def test_numbers_for_ids_that_end_in_them_change_nothing_either(pairs: list[tuple[GroundedSample, str]]) -> None:
    """Answers cite [1] where passages are called cite_1, as GaRAGe's are."""
    scores = []
    for family in ("numbers", "cite_N"):
        renamed = [(_renamed(sample, answer, NAMES[family])[0], answer) for sample, answer in pairs]
        numbered = [(sample, re.sub(r"\{(\d+)\}", r"\1", answer)) for sample, answer in renamed]
        items = AnswerJudge(sentences=word_judge()).judge(numbered)
        scores.append([
            _scores(item, [passage.id for passage in sample.passages])
            for (sample, _), item in zip(numbered, items, strict=True)
        ])  # fmt: skip
    assert scores[0] == scores[1]


CITE = tuple(f"cite_{n}" for n in range(1, 16))
DOCS = tuple(f"doc_{n}" for n in range(1, 6))
MIXED = ("doc-a", "doc-b", "web_7", "web_8", "a", "A", "Annual Report")
CITED_BY_OTHER_NAMES: dict[tuple[str, tuple[str, ...]], tuple[tuple[str, ...], tuple[str, ...]]] = {
    ("It opened [1][3].", CITE): (("cite_1", "cite_3"), ()),
    ("It opened [1, 3].", CITE): (("cite_1", "cite_3"), ()),
    ("It opened [2-4].", CITE): (("cite_2", "cite_3", "cite_4"), ()),
    ("It opened [1]-[3].", CITE): (("cite_1", "cite_2", "cite_3"), ()),
    ("It opened [cite_1]-[cite_3].", CITE): (("cite_1", "cite_2", "cite_3"), ()),
    ("It opened [cite 1, cite 2].", CITE): (("cite_1", "cite_2"), ()),
    ("It opened [Cite-1].", CITE): (("cite_1",), ()),
    ("It opened (cite 11).", CITE): (("cite_11",), ()),
    ("It opened (source 2).", CITE): (("cite_2",), ()),
    ("It opened (sources 2 and 3).", CITE): (("cite_2", "cite_3"), ()),
    ("It opened.² ³", CITE): (("cite_2", "cite_3"), ()),
    ("It opened<sup>1</sup> 【4†source】.", CITE): (("cite_1", "cite_4"), ()),
    ("It opened [16].", CITE): ((), ("16",)),
    ("(1) It opened, (2) it closed in 10 m².", CITE): ((), ()),
    ("It lies in [0, 1].", CITE): ((), ()),
    ("It opened [2].", DOCS): (("doc_2",), ()),
    ("It opened [source 2; doc 3].", DOCS): (("doc_2", "doc_3"), ()),
    # Two passages end in the number: neither is meant.
    ("It opened [2].", ("doc_2", "web_2")): ((), ("2",)),
    ("It opened [web 2].", ("doc_2", "web_2")): (("web_2",), ()),
    # An id that is the number goes first.
    ("It opened [2].", ("2", "doc_2")): (("2",), ()),
    ("It opened [02].", ("2", "doc_2")): (("2",), ()),
    ("It opened [0][1][3].", ("0", "1", "2")): (("0", "1"), ("3",)),
    ("It opened [0, 1].", ("doc_0", "doc_1")): (("doc_0", "doc_1"), ()),
    ("It opened [12].", ("doc_2", "doc_112")): ((), ("12",)),
    ("It opened [1].", ("1", "[1]")): (("1",), ()),
    ("It opened [1].", ("[1]", "1")): (("1",), ()),
    ("The study documents a rise.", MIXED): ((), ()),
    ("It is a source a reader knows, says A.", MIXED): ((), ()),
    ("The Annual Report is out.", MIXED): ((), ()),
    ("See doc-bb, xdoc-b, doc-b-2, doc-b.html and http://x.org/doc-b.", MIXED): ((), ()),
    ("Passage doc-bb says so.", MIXED): ((), ()),
    ("Sources report that it rose.", ("report", "that", "rose")): ((), ()),
    ("On 2024-01-05 it rose to 3.5.", ("2024-01-05", "3.5")): ((), ()),
}  # fmt: skip


@pytest.mark.parametrize(("text", "ids"), CITED_BY_OTHER_NAMES)
def test_citations_of_passages_with_other_names(text: str, ids: tuple[str, ...]) -> None:
    assert cited_passages(text, ids) == CITED_BY_OTHER_NAMES[text, ids]
    assert cited_passages(text, ids[::-1]) == CITED_BY_OTHER_NAMES[text, ids]


WITHOUT_NAMES = {
    "It opened [doc-a] (see source web_7).": "It opened.",
}


@pytest.mark.parametrize("text", WITHOUT_NAMES)
def test_texts_without_names_of_passages(text: str) -> None:
    assert without_markers(text, MIXED) == WITHOUT_NAMES[text]


def test_a_deflection_is_one_whatever_passages_are_called() -> None:
    for ids in (("1", "2"), ("cite_1", "cite_2"), ("doc-a", "web_7"), ("Dr. No", "A.3")):
        for template, declines in (
            ("The passages [{}][{}] do not mention the date.", True),
            ("While the passages [{}, {}] discuss bridges, none mention the date.", True),
            ("The bridge is not made of steel [{}][{}].", False),
        ):
            assert (deflecting_rule(template.format(*ids), ids) is not None) is declines, (template, ids)


def test_garages_form_deflects_by_its_own_names(tmp_path: Path) -> None:
    row = {
        "sample_id": 1, "question": "When?", "question_date": "2024-11-01",
        "grounding": [{"age": "3 days", "date": "2024-10-29", "provider": "web", f"cite_{n}": "It is a bridge."}
                      for n in (1, 2)],
        "evidence_relevant": ["YES", "NO"], "evidence_cited": ["NO", "NO"],
        "answer_generate": "The passages [cite_1][cite_2] do not mention the date.",
    }  # fmt: skip
    path = tmp_path / "garage.jsonl"
    path.write_bytes(orjson.dumps(row))
    (sample,) = read_grounded(path)
    assert [passage.id for passage in sample.passages] == ["cite_1", "cite_2"]
    assert sample.deflection
