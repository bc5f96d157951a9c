"""Answers from passages: readers, citations, sentences, judges, and the scores, each by hand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.errors import RowError
from abstraction.files.records import Record
from abstraction.models.chat_model import Request
from abstraction.models.text_scorers import Entailment
from granola.commands.generate import Generate
from granola.commands.grounding import GroundingJudge
from granola.commands.item_scores import Verdicts
from granola.errors import UsageError
from granola.evidence.attribution.evaluators import EntailmentEvaluator
from granola.evidence.evidence_task import EstimateSettings
from granola.evidence.grounding.answer_judging import AnswerJudge, ChatSentenceJudge, EvaluatorSentenceJudge
from granola.evidence.grounding.grounded_rows import GroundedSample, GroundingPassage, Relevance, read_grounded
from granola.evidence.grounding.grounding_task import (
    GROUNDING,
    SCORES,
    AnswerVerdict,
    CitationCounts,
    GroundingItem,
    SentenceVerdict,
    citation_scores,
    grounding_scores,
    item_score,
)
from granola.scoring.statistics import Estimate, Interval
from tests.abstraction.scripted_model import Scripted
from tests.granola.test_attribution_evaluators import Table
from tests.grounding_world import judged_item, word_judge

SUP, UNS, CON, NONE = SentenceVerdict
STRICT, WIDE = Relevance


def sample(**more: Any) -> GroundedSample:
    given: dict[str, Any] = {
        "id": "a", "question": "When did the bridge open?", "reference": "In 1999.", "cited": ("1",),
        "passages": (
            GroundingPassage(id="1", text="The bridge opened in 1999.", relevant=True, label="ANSWER-THE-QUESTION"),
            GroundingPassage(id="2", text="The harbour bridge opened in 1932.", relevant=False),
            GroundingPassage(id="3", text="The bridge shall open next year.", relevant=True, label="OUTDATED"),
        ),
    }  # fmt: skip
    return GroundedSample(**{**given, **more})


def test_relevance_has_two_readings() -> None:
    assert [one.id for one in sample().relevant_passages(STRICT)] == ["1"]
    assert [one.id for one in sample().relevant_passages(WIDE)] == ["1", "3"]
    assert sample().relevant_share(STRICT) == pytest.approx(1 / 3)


def test_garages_rows_are_read(tmp_path: Path) -> None:
    row = {
        "sample_id": 7, "question": "When?", "question_date": "2024-11-01",
        "grounding": [{"cite_1": "It opened.", "age": "3 days", "provider": "web"},
                      {"cite_2": "Old.", "date": "2020-01-01"}, {"cite_3": "Plain."}],
        "evidence_relevant": ["YES", "RELEVANT", "IRRELEVANT"],
        "evidence_correct": ["ANSWER-THE-QUESTION", "OUTDATED", None], "evidence_cited": [True, "NO", "no"],
        "answer_generate": "It opened [cite_1].", "question_popularity": "tail", "topic_tag": "Travel",
    }  # fmt: skip
    short = {**row, "sample_id": 9, "evidence_relevant": ["RELEVANT"]}
    declined = {**row, "sample_id": 10, "answer_generate": ""}
    path = tmp_path / "garage.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, [row, short, declined, row])))
    rejected: list[Any] = []
    first, second = read_grounded(path, on_reject=rejected.append)
    assert [(one.text, one.age, one.date, one.provider) for one in first.passages] == [
        ("It opened.", "3 days", None, "web"), ("Old.", None, "2020-01-01", None), ("Plain.", None, None, None),
    ]  # fmt: skip
    assert ([one.id for one in first.relevant_passages(STRICT)], [one.id for one in first.relevant_passages(WIDE)]) == (
        ["cite_1"],
        ["cite_1", "cite_2"],
    )
    assert (first.cited, first.deflection, second.deflection) == (("cite_1",), False, True)
    assert first.tags == {"popularity": "tail", "topic_tag": "Travel"}
    assert "1 entries for 3 passages" in rejected[0].reason
    assert "used already" in rejected[1].reason


def test_rows_of_ones_own_need_little(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"id": "a", "question": "q", "passages": ["one", {"text": "two", "relevant": true}]}\n')
    (found,) = read_grounded(path)
    assert [(one.id, one.relevant) for one in found.passages] == [("1", None), ("2", True)]
    path.write_text('{"id": "a", "question": "q", "passages": []}\n')
    with pytest.raises(RowError, match=r"passages is \[\]"):
        list(read_grounded(path))


item = judged_item


@pytest.mark.parametrize(("verdicts", "factual"), [
    ((SUP, SUP), True), ((SUP, NONE), True), ((SUP, UNS), False), ((CON, SUP), False), ((SUP, None), None),
    ((UNS, None), False),
])  # fmt: skip
def test_an_answer_is_factual_when_every_sentence_is(verdicts: Sequence[Any], factual: bool | None) -> None:
    assert item(sentences="st"[: len(verdicts)], all_=verdicts).is_factual() is factual


def test_an_answer_without_sentences_is_not_factual() -> None:
    assert item(sentences=()).is_factual() is False


@given(
    st.sampled_from([*AnswerVerdict, None]),
    st.lists(st.sampled_from([*SentenceVerdict, None]), min_size=1, max_size=4),
    st.lists(st.sampled_from([*SentenceVerdict, None]), min_size=1, max_size=4),
)
def test_the_papers_inequalities_hold_item_by_item(
    grade: AnswerVerdict | None, whole: list[SentenceVerdict | None], own: list[SentenceVerdict | None]
) -> None:
    """F <= min(E, uF), RAF <= min(E, uRAF), F >= E + uF - 1."""
    n = min(len(whole), len(own))
    one = item(
        eligibility=grade, sentences=("s",) * n, all_=tuple(whole[:n]), relevant={STRICT: tuple(own[:n])}
    )
    told = {name: item_score(one, name, EstimateSettings()) for name in SCORES if "wide" not in name}
    scores = {name: number or 0.0 for name, number in told.items()}
    assert scores["F"] <= min(scores["E"], scores["uF"])
    assert scores["RAF strict"] <= min(scores["E"], scores["uRAF strict"])
    assert scores["F"] >= scores["E"] + scores["uF"] - 1


def test_what_counts_is_a_setting() -> None:
    declines = item(id="b", expected_deflection=True, deflects="rule", eligibility=None, sentences=())
    deflecting = item(id="c", deflects="rule")
    lacking = item(id="d", eligibility=None)
    assert item_score(declines, "E", EstimateSettings()) is None
    assert item_score(declines, "uF", EstimateSettings(rules=("over=all",))) == 0.0
    assert item_score(deflecting, "E", EstimateSettings()) == 1.0
    assert item_score(deflecting, "E", EstimateSettings(rules=("deflecting=fails",))) == 0.0
    assert item_score(deflecting, "E", EstimateSettings(rules=("deflecting=left-out",))) is None
    assert item_score(lacking, "E", EstimateSettings()) is None
    assert item_score(lacking, "uF", EstimateSettings()) is not None
    assert item_score(lacking, "F", EstimateSettings()) is None


def test_a_report_by_hand() -> None:
    """Four answerable ones: E 3/4, uF 2/4, F 2/4 ... and one that deflects rightly."""
    items = [
        item(id="1"),
        item(id="2", eligibility=AnswerVerdict.MINOR, relevant={STRICT: (SUP, UNS), WIDE: (SUP, SUP)}),
        item(id="3", eligibility=AnswerVerdict.MAJOR, all_=(UNS, SUP), deflects="rule"),
        item(id="4", all_=(CON, SUP), relevant={STRICT: (CON, SUP), WIDE: (SUP, SUP)}),
        item(id="5", expected_deflection=True, deflects="rule"),
        item(id="6", expected_deflection=True),
    ]
    found = grounding_scores(items, EstimateSettings(resamples=20))
    shares = {name: one.value for name, one in found.items()}
    assert (shares["E"], shares["uF"], shares["F"]) == (3 / 4, 2 / 4, 2 / 4)
    assert (shares["uRAF strict"], shares["uRAF wide"]) == (2 / 4, 4 / 4)
    assert (shares["RAF strict"], shares["RAF wide"]) == (1 / 4, 3 / 4)
    assert (shares["deflection TP"], shares["deflection FP"]) == (1 / 2, 1 / 4)
    assert (found["deflection TP"].n, found["deflection FP"].n) == (2, 4)


def test_citation_scores_by_hand() -> None:
    """Cited {1, 2} of {1}; {3} of {3, 4}; nothing of {5}: P 1/2 and 1, R 1, 1/2 and 0."""
    counts = [CitationCounts.of(["1", "2"], ["1"]), CitationCounts.of(["3"], ["3", "4"]), CitationCounts.of([], ["5"])]
    assert CitationCounts.of(["1"], ["1"], unknown=2) == CitationCounts(1, 3, 1)
    found = {name: one.value for name, one in citation_scores(counts, resamples=20).items()}
    assert found["mean_precision"] == pytest.approx(3 / 4)
    assert found["mean_recall"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found["f1_of_means"] == pytest.approx(2 * 3 / 4 * 1 / 2 / (3 / 4 + 1 / 2))


# Table 3: of 427 questions to deflect and 1,939 others.
TABLE_3 = {
    "Claude Haiku": (15.2, 0.4), "Claude Sonnet": (25.3, 1.4), "Gemini 1.5": (27.2, 2.3), "GPT-4o": (31.1, 2.3),
    "Nova Micro": (7.0, 0.3), "Nova Lite": (7.5, 1.4), "Nova Pro": (18.0, 0.8), "Mistral": (5.2, 0.8),
    "Mixtral": (9.4, 3.3), "Qwen 14b": (17.1, 1.1), "Qwen 32b": (21.5, 1.2),
}  # fmt: skip


@pytest.mark.parametrize("model", TABLE_3)
def test_the_papers_deflection_figures_are_whole_numbers_of_questions(model: str) -> None:
    """2,366 judged answers: the report divides by 427 and 1,939, each score by the questions that it is of."""
    items = []
    for expected, n, printed in zip((True, False), (427, 1_939), TABLE_3[model], strict=True):
        declined = round(printed / 100 * n)
        items += [
            item(id=f"{expected} {at}", expected_deflection=expected, deflects="rule" if at < declined else "")
            for at in range(n)
        ]
    report = grounding_scores(items, EstimateSettings(resamples=10))
    shares = (report["deflection TP"], report["deflection FP"])
    assert tuple(round(100 * share.value, 1) for share in shares) == TABLE_3[model]
    assert tuple(share.n for share in shares) == (427, 1_939)


TABLE_4 = {
    "Claude Haiku": (49.9, 71.9, 58.9), "Claude Sonnet": (51.8, 67.5, 58.6), "Gemini 1.5": (54.7, 56.3, 55.5),
    "GPT-4o": (57.9, 59.0, 58.4), "Nova Micro": (48.2, 75.8, 58.9), "Nova Lite": (50.0, 46.4, 48.1),
    "Nova Pro": (56.9, 49.6, 53.0), "Mistral": (44.4, 60.0, 51.0), "Mixtral": (46.3, 56.3, 51.0),
    "Qwen 14b": (55.2, 43.6, 48.7), "Qwen 32b": (55.2, 47.0, 50.8),
}  # fmt: skip


def answers_with(precision: float, recall: float) -> list[CitationCounts]:
    """1,000 answers with these means, in per cent with one decimal: some right, some half right, the rest wrong."""
    low, high = sorted((round(10 * precision), round(10 * recall)))
    half_right = CitationCounts(1, 2, 1) if precision < recall else CitationCounts(1, 1, 2)
    return (
        [CitationCounts(1, 1, 1)] * (2 * low - high)
        + [half_right] * (2 * (high - low))
        + [CitationCounts(0, 1, 1)] * (1_000 - high)
    )


def test_ten_of_the_papers_eleven_f1_are_harmonic_means_of_mean_p_and_mean_r() -> None:
    right: Counter[str] = Counter()
    for precision, recall, f1 in TABLE_4.values():
        scores = citation_scores(answers_with(precision, recall), resamples=10)
        assert round(100 * scores["mean_precision"].value, 1) == precision
        assert round(100 * scores["mean_recall"].value, 1) == recall
        right += Counter(name for name, score in scores.items() if round(100 * score.value, 1) == f1)
    assert right["f1_of_means"] == 10


def test_citations_that_are_all_wrong_score_nothing() -> None:
    """P = R = 0: their harmonic mean is 0, in the score and in every resample without a right citation."""
    wrong, right = CitationCounts(0, 1, 1), CitationCounts(1, 1, 1)
    assert citation_scores([wrong, wrong], resamples=20)["f1_of_means"] == Estimate(
        value=0.0, interval=Interval(low=0.0, high=0.0), n=2
    )
    # Of four draws none is the right one with probability (3/4)^4 = 0.32.
    for name, score in citation_scores([wrong, wrong, wrong, right], resamples=1_000).items():
        assert (score.value, score.interval.low, score.n) == (0.25, 0.0, 4), name


def test_a_score_that_no_answer_has_is_of_none() -> None:
    """Where nothing is cited there is a recall, but no precision."""
    scores = citation_scores([CitationCounts(0, 0, 2)] * 3, resamples=20)
    assert (scores["mean_recall"].value, scores["mean_recall"].n) == (0.0, 3)
    for name in ("mean_precision", "f1_of_means"):
        assert math.isnan(scores[name].value), name
        assert scores[name].n == 0, name


TABLE_2 = {
    "Claude 3.5 Haiku": (79.37, 51.83, 48.37, 40.00, 36.90), "Claude 3.5 Sonnet": (86.07, 68.48, 64.67, 51.75, 48.91),
    "Gemini 1.5 Flash": (84.88, 81.07, 70.50, 67.78, 59.43), "GPT-4o": (92.47, 62.91, 59.30, 56.18, 52.88),
    "Nova Micro": (90.97, 48.83, 45.02, 39.94, 37.16), "Nova Lite": (80.15, 61.06, 49.25, 55.67, 45.97),
    "Nova Pro": (87.77, 74.47, 66.63, 68.29, 60.67), "Mistral": (85.30, 48.01, 43.32, 38.14, 34.32),
    "Mixtral": (82.72, 47.08, 42.96, 37.31, 34.12), "Qwen2.5 14b": (85.80, 68.20, 59.80, 59.20, 52.70),
    "Qwen2.5 32b": (90.50, 66.10, 61.00, 57.70, 52.90),
}  # fmt: skip


@pytest.mark.parametrize("model", TABLE_2)
def test_simulated_labels_reach_table_2_within_its_own_grain(model: str) -> None:
    """The machinery only: 2,366 answers with the shares of the table, each score within 0.03 points."""
    n = 2_366
    e, uf, f, uraf, raf = (round(share / 100 * n) for share in TABLE_2[model])
    items = []
    for at in range(n):
        eligible = at < e
        # F of them are both; the other factual ones are not eligible.
        factual = at < f or e <= at < e + uf - f
        relevant = at < raf or e <= at < e + uraf - raf
        items.append(
            item(
                id=str(at), sentences=("s",), eligibility=AnswerVerdict.MINOR if eligible else AnswerVerdict.MAJOR,
                all_=(SUP if factual else UNS,), relevant={STRICT: (SUP if relevant else UNS,)},
            )
        )  # fmt: skip
    found = grounding_scores(items, EstimateSettings(resamples=10))
    for name, printed in zip(("E", "uF", "F", "uRAF strict", "RAF strict"), TABLE_2[model], strict=True):
        assert 100 * found[name].value == pytest.approx(printed, abs=0.03)


def test_items_come_back_from_json() -> None:
    one = item(citations=(1, 2, 3), unjudged={"a": "b"})
    line = orjson.loads(orjson.dumps(one.model_dump(mode="json")))
    assert line["sentences"][0] == {"text": "s1", "all": "supported", "strict": "supported", "wide": "supported"}
    assert (GroundingItem.model_validate(line), one.citations) == (one, CitationCounts(1, 2, 3))
    with pytest.raises(RowError, match="no answer: expected"):
        GROUNDING.row.of(Record(source="x", data={"id": "x"}))


def told(request: Request) -> str | None:
    text = request.messages[-1].content
    if "<sentences>" in text:
        passages = text.split("<passages>")[1].split("</passages>")[0]
        lines = [line[2:] for line in text.split("<sentences>")[1].splitlines() if line.startswith("- ")]
        verdicts = []
        for line in lines:
            number, _, said = line.partition(": ")
            year = next((word for word in said.replace(".", "").split() if word.isdigit()), None)
            verdicts.append(
                f"{number}: {'none' if year is None else 'supported' if year in passages else 'unsupported'}"
            )
        return "\n".join(verdicts)
    return "No issues" if "1999" in text.split("<answer>")[1] else "major issues"


def test_answers_are_judged_against_all_and_relevant_passages() -> None:
    model = Scripted(told)
    judge = AnswerJudge(sentences=ChatSentenceJudge(model=model), chat=model)
    good, bad = judge.judge([
        (sample(), "Here is the answer. The bridge opened in 1999 [1]."), (sample(id="b"), "It opened in 1932 [2][7]."),
    ])  # fmt: skip
    assert (good.is_eligible, good.is_factual(), good.is_factual(STRICT)) == (True, True, True)
    assert good.citations == CitationCounts(1, 1, 1)
    # 1932 stands in a passage that is irrelevant: factual against all, not against the relevant ones.
    assert (bad.is_eligible, bad.is_factual(), bad.is_factual(STRICT)) == (False, True, False)
    assert bad.citations == CitationCounts(0, 2, 1)  # one that is not to be cited, one that does not exist
    assert "[1]" not in next(r for r in model.asked if "<sentences>" in r.messages[-1].content).messages[-1].content


def test_a_perfect_answer_scores_one_and_an_empty_one_nothing() -> None:
    model = Scripted(told)
    judge = AnswerJudge(sentences=ChatSentenceJudge(model=model), chat=model)
    perfect, empty = judge.judge([(sample(), "The bridge opened in 1999 [1]."), (sample(id="b"), "")])
    settings = EstimateSettings(resamples=10)
    assert {item_score(perfect, name, settings) for name in SCORES} == {1.0}
    assert {item_score(empty, name, settings) for name in SCORES} == {0.0}
    assert empty.deflects == "empty"
    assert perfect.citations is not None
    assert perfect.citations == CitationCounts(1, 1, 1)


def test_order_and_names_of_passages_change_nothing() -> None:
    renamed = {"1": "x", "2": "y", "3": "z"}
    turned = sample(
        passages=tuple(one.model_copy(update={"id": renamed[one.id]}) for one in reversed(sample().passages)),
        cited=("x",),
    )
    answers = ["It opened in 1999 [1]. It closed in 1932 [2].", "It opened in 1999 [x]. It closed in 1932 [y]."]
    found = []
    for one, answer in zip((sample(), turned), answers, strict=True):
        model = Scripted(told)
        (judged,) = AnswerJudge(sentences=ChatSentenceJudge(model=model), chat=model).judge([(one, answer)])
        report = grounding_scores([judged], EstimateSettings(resamples=10))
        found.append({name: score.value for name, score in report.items() if not math.isnan(score.value)})
    assert found[0] == found[1]


def test_a_judge_that_fails_loses_no_row() -> None:
    failing = Scripted(lambda request: None if hash_of(request.id) < 0.3 else told(request))
    judge = AnswerJudge(sentences=ChatSentenceJudge(model=failing), chat=failing)
    pairs = [(sample(id=f"q{n}"), "The bridge opened in 1999 [1].") for n in range(60)]
    found = list(judge.judge(pairs))
    assert [one.id for one in found] == [f"q{n}" for n in range(60)]
    lacking = [one for one in found if one.unjudged]
    assert 10 < len(lacking) < 60
    report = grounding_scores(found, EstimateSettings(resamples=10))
    assert 0 < report["RAF strict"].n < 60


def verdicts(item: GroundingItem) -> tuple[object, ...]:
    return tuple(one.all for one in item.sentences)


def hash_of(text: str) -> float:
    import hashlib

    return hashlib.sha256(text.encode()).digest()[0] / 256


def test_evaluators_of_attribution_judge_sentences_too() -> None:
    shares = {"The bridge opened in 1999.": Entailment(0.9, 0.05, 0.05)}
    model = Table(lambda pair: shares.get(pair.premise, Entailment(0.1, 0.2, 0.7)))
    entailment = EvaluatorSentenceJudge(evaluator=EntailmentEvaluator(model=model), apart=True)
    one, two = AnswerJudge(sentences=entailment).judge([
        (sample(), "It opened in 1999."), (sample(id="b", passages=sample().passages[1:]), "It opened in 1999."),
    ])  # fmt: skip
    assert (verdicts(one), one.eligibility, verdicts(two)) == ((SUP,), None, (CON,))
    assert "apart|nli|premise:evidence|model:" in one.judge
    (three,) = AnswerJudge(sentences=word_judge()).judge([(sample(), "The bridge opened 1999. Hi.")])
    assert verdicts(three) == (SUP, NONE)
    (four,) = AnswerJudge(sentences=word_judge()).judge([(sample(), "Nobody walked across yesterday.")])
    assert verdicts(four) == (UNS,)


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.chat_server import serving

    questions = tmp_path / "questions.jsonl"
    rows = [
        {"id": f"q{n}", "question": "When did the bridge open?", "reference": "In 1999.", "reference_citations": ["1"],
         "passages": [{"text": "The bridge opened in 1999.", "relevant": True}, {"text": "Noise.", "relevant": n > 1}],
         "tags": {"popularity": "tail" if n % 2 else "head"}}
        for n in range(4)
    ]  # fmt: skip
    questions.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    log = tmp_path / "asked.txt"
    with serving(log=str(log)) as (address, _):
        ask = Generate(
            items=str(questions), target="grounded", model=f"openai:{address}#m", out=str(tmp_path / "a.jsonl"),
            force=True,
        )  # type: ignore[arg-type]  # fmt: skip
        answered = ask.run()
        assert answered.counts == {"written": 4}
        asked = len(log.read_text().splitlines())
        (tmp_path / "a.jsonl").unlink()
        ask.run()  # as after a run that was killed: what was answered is not asked again
        assert len(log.read_text().splitlines()) == asked
    given = [{"id": f"q{n}", "answer": "The bridge opened in 1999 [1]."} for n in range(3)] + [
        {"id": "z", "answer": ""}
    ]
    (tmp_path / "own.jsonl").write_bytes(b"\n".join(map(orjson.dumps, given)))
    judged = GroundingJudge(questions=questions, given=tmp_path / "own.jsonl", out=str(tmp_path / "j.jsonl")).run()
    assert judged.rejected  # of no question of this id
    found = Verdicts(judged=(tmp_path / "j.jsonl",), by=("popularity", "relevant_share"), score=("uF",)).run()
    assert found.report["own"]["uF"].value == 1.0
    assert math.isnan(found.report["own"]["E"].value)  # nobody judged
    assert {panel.name: {place: one.n for place, one in panel.lines["own"]} for panel in found.panels} == {
        "popularity": {"head": 2, "tail": 1}, "relevant_share_strict": {"0.33-0.67": 2, "0.67-1.00": 1},
    }  # fmt: skip
    first = GroundingJudge(
        questions=questions, given=tmp_path / "own.jsonl", out=str(tmp_path / "first.jsonl"), limit=2
    ).run()
    assert (first.counts, first.rejected) == ({"judged": 2}, [])  # the row that is no answer stands behind
    lines = (tmp_path / "j.jsonl").read_bytes().splitlines()
    assert (tmp_path / "first.jsonl").read_bytes().splitlines() == lines[:2]
    assert orjson.loads((tmp_path / "first.jsonl.run.json").read_bytes())["arguments"]["limit"] == 2
    assert "--limit: answers behind the first 2 answers of" in capsys.readouterr().err
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"sentences": "chat"}, "--sentences chat asks --model"), ({"sentences": "x"}, "names no evaluator"),
        ({"ask_deflection": True}, "--ask-deflection asks"),
    ]  # fmt: skip
    for more, message in wrong:
        with pytest.raises(UsageError, match=message):
            GroundingJudge(
                questions=questions, given=tmp_path / "own.jsonl", out=str(tmp_path / "x.jsonl"), **more
            ).run()


def test_after_a_trial_with_a_limit_only_the_others_are_asked(tmp_path: Path) -> None:
    from tests.chat_server import serving

    ids = ("a", "b", "c")
    questions, answers, out = (tmp_path / name for name in ("questions.jsonl", "answers.jsonl", "judged.jsonl"))
    asked = [{"id": key, "question": f"Who is {key}?", "reference": "Lee.", "passages": ["Lee."]} for key in ids]
    questions.write_bytes(b"\n".join(map(orjson.dumps, asked)))
    answers.write_bytes(b"\n".join(orjson.dumps({"id": key, "answer": f"{key} is Lee."}) for key in ids))
    log = tmp_path / "asked.txt"
    calls = []
    with serving(log=str(log)) as (address, _):
        for limit in (2, 3, None):
            GroundingJudge(
                questions=questions, given=answers, out=str(out), model=f"openai:{address}#m", limit=limit, force=True
            ).run()
            calls.append(len(log.read_text().splitlines()))
    assert len(out.read_text().splitlines()) == 3
    assert calls[0] / 2 == calls[1] / 3
    assert calls[1] == calls[2]
