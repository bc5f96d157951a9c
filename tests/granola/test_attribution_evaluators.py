"""Evaluators of attribution: reading labels, asking models, combining facts, training; and what they are scored by."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.errors import ReplyError
from abstraction.files.writing import write_records
from abstraction.models.chat_model import Request
from abstraction.models.text_scorers import Entailment, TextPair
from granola.commands import AttributionEvaluate, AttributionTrain
from granola.errors import UsageError
from granola.evidence.attribution.attribution_task import (
    BY_PEOPLE,
    CATEGORIES,
    FACT_SCORE,
    TRIPLES_LEFT,
    AttributionJudgement,
    AttributionSample,
    Category,
    CitedFact,
    Complexity,
    macro_f1,
    micro_f1,
    read_samples,
    scores_of,
    verdict_row,
)
from granola.evidence.attribution.evaluators import (
    NAMES,
    CategoryEvaluator,
    DecomposedEvaluator,
    EntailmentEvaluator,
    GeneratedEntailment,
    GraphEvaluator,
    PremiseIs,
    WordEvaluator,
    citation_lines,
    combine_fact_labels,
    draw_examples,
    read_category,
    read_facts,
)
from granola.evidence.attribution.sample_texts import (
    ModelWording,
    TextCoverage,
    classify_coverage,
    coverage_sheet_items,
    foreign_names,
    states_name,
)
from granola.evidence.attribution.trained_evaluator import (
    FEATURES,
    FILE,
    TrainedEvaluator,
    WordWeights,
    features_of,
)
from granola.evidence.evidence_task import EstimateSettings
from granola.evidence.verdict_rows import VerdictRows
from granola.scoring.statistics import cohen_kappa
from kg.graph.logical_query import StoreFacts
from tests.abstraction.scripted_model import Scripted
from tests.attribution_world import world
from tests.granola.test_attribution_building import made

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
SUP, PAR, CON, IRR = Category


def write_samples(samples: Sequence[AttributionSample], path: Path) -> None:
    write_records((one.to_json() for one in samples), path)


def sample(number: int = 0, category: Category | None = SUP, **more: Any) -> AttributionSample:
    given: dict[str, Any] = {
        "id": f"s{number}", "question": "Where was Ann Lee born?", "statement": "Ann Lee was born in Manchester.",
        "citations": ("Ann Lee was born in Manchester.",), "category": category, "complexity": Complexity.SINGLE,
    }  # fmt: skip
    return AttributionSample(**{**given, **more})


REPLIES = {
    "Supportive": SUP, "insufficient.": PAR, " **Irrelevant** ": IRR, "Missing": PAR, "Partially supportive": PAR,
    "Extrapolatory": IRR, "Attributable": SUP, "2": PAR, "4.": IRR, "Category: 2": PAR, "2. Partially supportive": PAR,
    "Category: Contradictory, for it names Leeds.": CON, "Label: **Supportive**": SUP,
    "The reference names her town.\nLabel: **Supportive**": SUP, "<think>supportive?</think>Irrelevant": IRR,
    '{"category": "contradictory"}': CON,
}  # fmt: skip


@pytest.mark.parametrize("reply", REPLIES)
def test_categories_are_read_by_the_reader_of_all_judges(reply: str) -> None:
    assert read_category(reply, numbered=True) is REPLIES[reply]


@pytest.mark.parametrize(
    "reply",
    ["", "yes", "supportive or irrelevant", "not supportive", "7", "unsupportiveness", "Non-supportive",
     "the answer is supportive of nothing", "2. Irrelevant"],
)  # fmt: skip
def test_what_is_no_category_is_asked_again(reply: str) -> None:
    with pytest.raises(ReplyError):
        read_category(reply, numbered=True)


@pytest.mark.parametrize(("labels", "together"), [
    ((SUP, CON, IRR), CON), ((SUP, SUP), SUP), ((SUP, IRR), PAR), ((IRR, IRR), IRR), ((), IRR), ((CON,), CON),
])  # fmt: skip
def test_facts_are_combined_in_the_papers_order(labels: Sequence[Category], together: Category) -> None:
    """Appendix E.3: contradictory before all supportive before any supportive."""
    assert combine_fact_labels(labels) is together


def test_facts_are_lines() -> None:
    assert read_facts("1. A is b.\n\n- C is d.\n- C is d.") == ("A is b.", "C is d.")
    with pytest.raises(Exception, match="1 to 20 facts"):
        read_facts(" \n")


@pytest.mark.parametrize("family", ["defined", "options", "three-way"])
def test_a_chat_model_is_asked_once_a_sample(family: str) -> None:
    model = Scripted(lambda request: "Attributable" if family == "three-way" else "Supportive")
    evaluator = CategoryEvaluator(model=model, kind=family)
    found = list(evaluator.judge([sample(0), sample(1, PAR)]))
    assert [one.category for one in found] == [SUP, SUP]
    assert [one.id for one in found] == ["s0", "s1"]
    last = model.asked[0].messages[-1].content
    assert "Ann Lee was born in Manchester." in last
    assert ("|" in last) == (family != "defined")  # the claim is question|statement
    assert evaluator.signature().startswith(f"{family}|shots:0|model:m-")


def test_examples_stand_before_the_question() -> None:
    pool = [sample(n, category) for n, category in enumerate([*Category] * 3)]
    shots = draw_examples(pool, 2, categories=[*Category], seed=4)
    assert [one.category for one in shots] == [*Category, *Category]
    assert len({one.id for one in shots}) == 8
    model = Scripted(lambda request: "Irrelevant")
    list(CategoryEvaluator(model=model, kind="options", examples=shots).judge([sample(99)]))
    said = [one.content for one in model.asked[0].messages if one.role == "assistant"]
    assert said == ["Supportive", "Insufficient", "Contradictory", "Irrelevant"] * 2
    three = draw_examples(pool, 1, categories=[*map(Category, NAMES["three-way"])])
    assert PAR not in {one.category for one in three}


def test_a_reply_that_cannot_be_read_is_asked_again_and_then_counted() -> None:
    model = Scripted(lambda request: "maybe" if "s0" in request.id or request.id == "s0" else "2")
    found = list(CategoryEvaluator(model=model, kind="defined").judge([sample(0), sample(1)]))
    assert (found[0].category, found[0].supported) == (None, None)
    assert "unreadable-reply" in found[0].failed
    assert found[1].category is PAR
    assert len(model.asked) == 3
    assert next(CategoryEvaluator(model=Scripted(lambda request: None), kind="defined").judge([sample()])).failed


def test_a_statement_is_judged_fact_by_fact() -> None:
    def answer(request: Request) -> str:
        text = request.messages[-1].content
        if "<fact>" not in text:
            return "Ann Lee was born.\nShe was born in Manchester."
        return "Supportive" if "in Manchester" in text.split("</fact>")[0] else "Irrelevant"

    (found,) = DecomposedEvaluator(model=Scripted(answer), kind="decomposed").judge([sample()])
    assert found.category is PAR
    assert found.facts == (("Ann Lee was born.", "irrelevant"), ("She was born in Manchester.", "supportive"))
    broken = Scripted(lambda request: "A.\nB." if "<fact>" not in request.messages[-1].content else "hm")
    (lost,) = DecomposedEvaluator(model=broken, kind="decomposed").judge([sample()])
    assert (lost.category, lost.supported) == (None, None)


class Table:
    """Entailment by a function of the pair."""

    identity: Mapping[str, Any] = {"kind": "table"}

    def __init__(self, judge: Callable[[TextPair], Entailment]) -> None:
        self._judge = judge
        self.asked: list[TextPair] = []

    def scores(self, pairs: Sequence[TextPair], /) -> list[Entailment]:
        self.asked += pairs
        return [self._judge(pair) for pair in pairs]


def test_entailment_in_three_classes() -> None:
    shares = {"a": Entailment(0.5, 0.3, 0.2), "b": Entailment(0.1, 0.2, 0.7), "c": Entailment(0.3, 0.6, 0.1)}
    model = Table(lambda pair: shares[pair.premise])
    samples = [sample(n, citations=(text,)) for n, text in enumerate("abc")]
    assert [one.category for one in EntailmentEvaluator(model=model).judge(samples)] == [SUP, CON, IRR]
    turned = Table(lambda pair: Entailment(1, 0, 0))
    list(EntailmentEvaluator(model=turned, premise=PremiseIs.STATEMENT).judge(samples[:1]))
    assert turned.asked == [TextPair("Where was Ann Lee born? Ann Lee was born in Manchester.", "a")]


def test_the_facts_tell_the_four_apart() -> None:
    facts = StoreFacts(world())
    graph = GraphEvaluator(facts)
    for name in ("single", "path", "tree"):
        samples = made(facts, name)
        assert [one.category for one in graph.judge(samples.values())] == list(samples), name
    (none,) = GraphEvaluator(facts).judge([sample()])
    assert none.failed == "no query that the graph answers"


def test_a_model_that_writes_entailment_as_a_number() -> None:
    """AutoIS: "premise: ... hypothesis: ..." in, 1 or 0 out."""
    model = Scripted(lambda request: "1" if "born in Manchester. hypothesis" in request.messages[-1].content else "0")
    judged = list(GeneratedEntailment(model=model).judge([sample(), sample(1, citations=("She was born.",))]))
    assert [(one.category, one.supported) for one in judged] == [(None, True), (None, False)]
    last = model.asked[0].messages[-1].content
    assert last == "premise: Ann Lee was born in Manchester. hypothesis: Ann Lee was born in Manchester."


def test_shared_words_are_the_baseline() -> None:
    """Of "Ann Lee was born in Manchester." the words of four letters and more are "born" and "manchester"."""
    samples = [sample(), sample(citations=("She was born in Leeds.",)), sample(statement="")]
    judged = list(WordEvaluator().judge(samples))
    assert [(one.category, one.supported) for one in judged] == [(None, True), (None, False), (None, True)]


def test_facts_are_asked_for_by_a_true_or_false_question() -> None:
    """Appendix D.2: one fact and its context; the graph's answer is the automatic score."""
    left = sample(0, PAR, subgraph=(fact("x"), fact("y")), evidence=(fact("x"),))
    model = Scripted(lambda request: "True" if "<statement>x." in request.messages[-1].content else "It is false.")
    for asking, kind in ((CategoryEvaluator, "defined"), (DecomposedEvaluator, "decomposed")):
        evaluator = asking(model=model, kind=kind)
        assert list(evaluator.fact_verdicts([left])) == [(True, False)]
    assert list(WordEvaluator().fact_verdicts([left])) == [(True, True)]  # no word of four letters, nothing to support
    facts = StoreFacts(world())
    partial = [made(facts, name)[PAR] for name in ("path", "tree")]
    assert list(GraphEvaluator(facts).fact_verdicts(partial)) == [one.needed_facts_stated for one in partial]


def test_examples_stand_before_both_questions_of_a_decomposed_evaluator() -> None:
    facts = StoreFacts(world())
    examples = [made(facts, "path")[category] for category in Category]
    model = Scripted(lambda request: "A is b." if request.id.endswith("split") else "Supportive")
    list(DecomposedEvaluator(model=model, examples=examples, kind="decomposed").judge([sample()]))
    split, judged = model.asked
    said = [one.content for one in split.messages if one.role == "assistant"]
    assert examples[0].subgraph[0].text in said[-1]
    labels = [one.content for one in judged.messages if one.role == "assistant"]
    assert labels == ["Supportive", "Irrelevant", "Contradictory", "Irrelevant"]


def test_features_by_hand() -> None:
    about = sample(citations=("Ann Lee was born in Leeds.",))
    found = dict(zip(FEATURES, features_of(about, WordWeights()), strict=True))
    # The statement is "Ann Lee was born in Manchester.": of its four words of content three stand in the citation.
    assert found["words in citations"] == 3 / 4
    assert found["weighted words in best sentence"] == pytest.approx(3 / 4)
    assert found["best sentence's words in statement"] == 3 / 4
    assert found["names in citations"] == 1 / 2  # Lee and Manchester; the first word tells nothing by its capital
    assert found["negated unlike best sentence"] == 0.0
    judged = features_of(about, WordWeights(), Entailment(1, 0, 0))
    assert len(judged) == len(FEATURES) + 3


@given(st.text(max_size=300), st.lists(st.text(max_size=200), max_size=4))
def test_no_text_breaks_the_features(statement: str, citations: list[str]) -> None:
    found = features_of(sample(statement=statement, citations=tuple(citations)), WordWeights(9, {"a": 3}))
    assert all(math.isfinite(x) for x in found)


def training_set() -> list[AttributionSample]:
    towns = ["Leeds", "York", "Bath", "Derby", "Wells", "Ripon"]
    out = []
    for n in range(30):
        town, other = towns[n % 6], towns[(n + 1) % 6]
        about = {"question": f"Where was Ann {n} born?", "statement": f"{town} is the place where Ann {n} was born."}
        said = {SUP: f"Ann {n} was born in {town}.", CON: f"Ann {n} was born in {other}.", IRR: f"Ann {n} plays golf."}
        out += [sample(10 * n + at, category, citations=(said[category],), **about) for at, category in enumerate(said)]
    return out


def test_an_evaluator_is_trained_saved_and_loaded(tmp_path: Path) -> None:
    samples = training_set()
    one, again = (TrainedEvaluator.train(samples) for _ in range(2))
    assert one.signature() == again.signature()
    one.save(tmp_path)
    loaded = TrainedEvaluator.load(tmp_path)
    said = [found.category for found in loaded.judge(samples)]
    assert said == [found.category for found in one.judge(samples)]
    assert sum(a is b.category for a, b in zip(said, samples, strict=True)) / len(samples) > 0.9
    with pytest.raises(UsageError, match="others that are not"):
        TrainedEvaluator.train([sample()])
    (tmp_path / FILE).write_text("[]")
    with pytest.raises(UsageError, match="is no trained evaluator"):
        TrainedEvaluator.load(tmp_path)


def test_labels_of_two_kinds_and_of_four_train_together() -> None:
    two = [
        one.model_copy(update={"id": f"{one.id}-2", "category": None, "attributable": one.category is SUP})
        for one in training_set()
    ]
    alone = TrainedEvaluator.train(two)
    assert alone.others is None
    assert [one.category for one in alone.judge(two[:1])] == [None]
    both = TrainedEvaluator.train([*two, *training_set()])
    assert both.others is not None
    assert set(both.others.classes) == {CON, IRR}


def test_one_is_in_the_box() -> None:
    bundled = TrainedEvaluator.load("bundled")
    assert bundled.others is not None
    told = sample(statement="Ann Lee was born in Leeds.", citations=("Ann Lee was born in Leeds.",))
    assert [one.category for one in bundled.judge([told])] == [SUP]


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not there")
def test_the_one_in_the_box_helps_on_labels_that_it_has_not_seen() -> None:
    """Macro-F1 on AttributionBench's development set; word overlap at its best threshold has .651, chance .5."""
    samples = list(read_samples(SHARED / "attribution" / "attributionbench_dev.jsonl.gz"))[::4]
    judged = TrainedEvaluator.load("bundled").judge(samples)
    right = sum(one.supported is of.supported for one, of in zip(judged, samples, strict=True))
    assert right / len(samples) > 0.6


def counted(pairs: Sequence[tuple[str, str]], statistic: Any) -> float:
    return float(statistic(pairs, np.ones((1, len(pairs)), dtype=np.int64))[0])


# Gold and said of ten samples, counted by hand below.
TEN = [
    (SUP, SUP), (SUP, SUP), (SUP, PAR), (PAR, PAR), (PAR, SUP), (CON, CON), (CON, IRR), (IRR, IRR), (IRR, "unparsed"),
    (CON, "unparsed"),
]  # fmt: skip
PAIRS = [(str(gold), str(said)) for gold, said in TEN]


def test_f1_by_hand() -> None:
    """Supportive: 2 right of 3 gold and 3 said, 4/6. Partial: 1 of 2 and 2, 2/4. Contradictory: 1 of 3 and 1, 2/4.
    Irrelevant: 1 of 2 and 2, 2/4.
    """
    assert [counted(PAIRS, macro_f1([label])) for label in CATEGORIES] == pytest.approx([4 / 6, 1 / 2, 1 / 2, 1 / 2])
    assert counted(PAIRS, macro_f1(CATEGORIES)) == pytest.approx((4 / 6 + 3 / 2) / 4)
    assert counted(PAIRS, micro_f1) == pytest.approx(5 / 10)  # what has no label is wrong


def rows_of(name: str, samples: Sequence[AttributionSample], said: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of labels of samples, "unparsed" where there is none."""
    rows = []
    for one, label in zip(samples, said, strict=True):
        known = {} if label == "unparsed" else {"category": Category(label), "supported": label == SUP}
        rows.append(verdict_row(name, one, AttributionJudgement(id=one.id, **known)))
    return rows


def test_scores_by_hand() -> None:
    samples = [
        sample(n, Category(gold), complexity=Complexity.SINGLE if n < 4 else Complexity.UNION)
        for n, (gold, _) in enumerate(PAIRS)
    ]
    rows = rows_of("test", samples, [label for _, label in PAIRS])
    scores = scores_of(rows, EstimateSettings(resamples=50))
    assert scores["micro-F1, single"].value == pytest.approx(3 / 4)
    assert scores["micro-F1, union"].value == pytest.approx(2 / 6)
    # Two ways: supported is right twice of 3 gold and 3 said; not supported 5 times, once said so wrongly.
    assert scores["supported F1"].value == pytest.approx(4 / 6)
    assert scores["without a label"].value == pytest.approx(2 / 10)
    micro = scores["micro-F1"]
    assert micro.interval.low <= micro.value <= micro.interval.high
    perfect = rows_of("perfect", samples, [gold for gold, _ in PAIRS])
    (test,) = VerdictRows.of([*perfect, *rows], EstimateSettings(resamples=200)).paired_tests("micro-F1")
    assert test.difference == pytest.approx(5 / 10)
    assert test.p < 0.1


def test_an_unreadable_reply_of_a_two_way_evaluator_is_no_wrong_category() -> None:
    samples = [sample(0, SUP), sample(1, IRR)]
    four = rows_of("four", samples, [SUP, "unparsed"])
    judged = [AttributionJudgement(id="s0", supported=True), AttributionJudgement(id="s1")]
    pairs = zip(samples, judged, strict=True)
    two = [{**verdict_row("two", one, found), "two_way": True} for one, found in pairs]
    rows = VerdictRows.of([*four, *two], EstimateSettings(resamples=20))
    assert rows.paired_tests("micro-F1") == []
    assert [(test.n, test.difference) for test in rows.paired_tests("two-way micro-F1")] == [(2, 0.0)]
    assert [rows.value(row, "micro-F1") for row in rows.rows] == [1.0, 0.0, None, None]


def test_the_only_table_with_the_papers_margins_and_kappa() -> None:
    """Section 4.2: 97 of 100 agree, (92, 3, 2) on the diagonal: kappa 0.758."""
    pairs = [("full", "full")] * 92 + [("absent", "absent")] * 3 + [("hallucinated", "hallucinated")] * 2
    pairs += [("absent", "full")] * 2 + [("hallucinated", "full")]
    assert len(pairs) == 100
    assert cohen_kappa(pairs) == pytest.approx(0.758, abs=0.0005)


def fact(letter: str) -> CitedFact:
    return CitedFact(subject="Q1", property="P1", object=f"Q{ord(letter)}", names=("a", "b", letter), text=f"{letter}.")


def test_fact_scores_by_hand() -> None:
    left = sample(0, PAR, subgraph=(fact("x"), fact("y"), fact("z")), evidence=(fact("x"), fact("z")))
    assert left.needed_facts_stated == (True, False, True)
    said = AttributionJudgement(id="s0", category=PAR, supported=False)
    rows = [verdict_row("a", left, said, (True, False, None)), verdict_row("a", left, said, (True, True, True))]
    scores = scores_of(rows, EstimateSettings(resamples=20))
    assert scores[FACT_SCORE].value == pytest.approx((1 / 3 + 1) / 2)
    assert scores[TRIPLES_LEFT].value == pytest.approx(2 / 3)


def test_scores_by_what_people_say(tmp_path: Path) -> None:
    """s1 is not unanimous; of s0, s2, s3, s4 people say SUP CON IRR IRR, the labels are SUP CON IRR PAR."""
    write_samples([sample(n, category) for n, category in enumerate([SUP, SUP, CON, IRR, PAR])], tmp_path / "s.jsonl")
    for name, second in (("one", SUP), ("two", PAR)):
        labels = [SUP, second, CON, IRR, IRR]
        rows = [{"id": f"s{n}", "evaluator": name, "category": label} for n, label in enumerate(labels)]
        (tmp_path / f"{name}.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    told = AttributionEvaluate(
        samples=tmp_path / "s.jsonl", evaluator=("trained=bundled",), resamples=20,
        people=(tmp_path / "one.jsonl", tmp_path / "two.jsonl"),
    ).run()  # fmt: skip
    assert told.report["trained"][BY_PEOPLE].n == 4


def test_attribution_bench_is_read_as_it_is(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "question": "q", "claim": "c", "references": ["r"], "attribution_label": "attributable",
         "src_dataset": "LFQA"},
        {"id": "b", "question": "q", "claim": "c", "references": ["r"], "attribution_label": "not attributable"},
        {"id": "c", "question": "q", "claim": "c", "references": ["r"], "attribution_label": "perhaps"},
    ]  # fmt: skip
    path = tmp_path / "bench.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    rejected: list[Any] = []
    found = list(read_samples(path, on_reject=rejected.append))
    assert [(one.supported, one.category) for one in found] == [(True, None), (False, None)]
    assert "expected 'attributable' or 'not attributable'" in rejected[0].reason


def test_stances_are_read_as_they_are(tmp_path: Path) -> None:
    stances = tmp_path / "stances.jsonl"
    pairs = [("completely-support", SUP), ("partially-support", PAR), ("refute", CON), ("irrelevant", IRR)]
    rows = [{"claim": "c", "evidence": "e", "stance": stance} for stance, _ in pairs]
    stances.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    assert [one.category for one in read_samples(stances)] == [category for _, category in pairs]


def test_a_sample_at_fault_is_rejected_and_never_the_run(tmp_path: Path) -> None:
    told = sample(0, SUP).to_json()
    hop = {"property": "P19"}
    rows = [
        {**told, "id": "without via", "query": {"branches": [{"start": "Q1", "hops": [hop]}]}},
        {**told, "id": "no query", "query": {"branches": [{"hops": [hop]}]}},
        {**told, "id": "no names", "evidence": [{"subject": "Q1", "property": "P1", "object": "Q2", "text": "t"}]},
        {**told, "id": "places", "cited": [[7]]},
        {**told, "id": "sound"},
    ]
    path = tmp_path / "samples.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    rejected: list[Any] = []
    found = list(read_samples(path, on_reject=rejected.append))
    assert [one.id for one in found] == ["without via", "sound"]
    assert (found[0].query or {})["branches"][0]["via"] == []
    assert len(rejected) == 3


@pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not there")
def test_the_real_set_is_read() -> None:
    found = list(read_samples(SHARED / "attribution" / "attributionbench_dev.jsonl.gz"))
    assert len(found) == 1_198
    assert sum(one.supported is True for one in found) == 599


def test_training_tells_the_rows_that_it_leaves_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = tmp_path / "train.jsonl"
    write_samples(training_set(), rows)
    with rows.open("a") as file:
        file.write("{\n")
    assert AttributionTrain(samples=(rows,), out=tmp_path / "mine").execute() == 1
    assert f"rejected {rows}:{len(training_set()) + 1}: not JSON" in capsys.readouterr().err


def test_the_commands_train_and_evaluate(tmp_path: Path) -> None:
    write_samples(training_set(), tmp_path / "train.jsonl")
    AttributionTrain(samples=(tmp_path / "train.jsonl",), out=tmp_path / "mine").run()
    found = AttributionEvaluate(
        samples=tmp_path / "train.jsonl", out=tmp_path / "said.jsonl", resamples=20,
        evaluator=(f"trained={tmp_path / 'mine'}", "words=0.6"),
    ).run()  # fmt: skip
    assert list(found.report) == ["trained", "words"]
    assert len((tmp_path / "said.jsonl").read_text().splitlines()) == 2 * len(training_set())
    assert found.tests[0].metric == "two-way micro-F1"
    with pytest.raises(UsageError, match="give --force"):
        AttributionTrain(samples=(tmp_path / "train.jsonl",), out=tmp_path / "mine").run()
    for words, message in {
        ("oracle=x",): "names no evaluator", ("graph",): "names no evaluator", (): "name an --evaluator",
        ("words=0.5", "words=0.5"): "given twice", ("words=2",): "a share above 0 and up to 1",
    }.items():  # fmt: skip
        with pytest.raises(UsageError, match=message):
            AttributionEvaluate(samples=tmp_path / "train.jsonl", evaluator=words).run()
    with pytest.raises(UsageError, match="--examples"):
        AttributionEvaluate(samples=tmp_path / "train.jsonl", evaluator=("options=x",), shots=1).run()


def test_a_killed_evaluation_goes_on(tmp_path: Path) -> None:
    """Replies are kept by what was asked: another run asks only for the rest."""
    from tests.chat_server import serving

    write_samples([sample(n, statement=f"Ann {n} was born.") for n in range(12)], tmp_path / "samples.jsonl")
    with serving() as (address, _):
        asked = {
            "samples": tmp_path / "samples.jsonl", "resamples": 10,
            "evaluator": (f"options=openai:{address}/v1?answers={tmp_path / 'kept.sqlite'}#m",),
        }  # fmt: skip
        first = AttributionEvaluate(**asked, limit=5).run()
        calls = [calls_in(tmp_path / "kept.sqlite")]
        whole = AttributionEvaluate(**asked).run()
        calls.append(calls_in(tmp_path / "kept.sqlite"))
        AttributionEvaluate(**asked).run()
        calls.append(calls_in(tmp_path / "kept.sqlite"))
    assert first.report["options"]["without a label"].n == 5
    assert whole.report["options"]["without a label"].value == 1  # its answers are no labels, each asked for twice
    assert calls == [10, 24, 24]


def calls_in(answers: Path) -> int:
    """How many answers a file keeps."""
    import sqlite3

    with sqlite3.connect(answers) as connection:
        (table,) = (name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))
        return int(connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])


def test_texts_of_a_model_are_checked() -> None:
    facts = StoreFacts(world())
    supported = made(facts, "path")[SUP]

    def answer(request: Request) -> str | None:
        text = request.messages[-1].content
        if "Rick Scott; place of birth" in text and "?x" not in text:
            return "Bloomington is where Rick Scott came into the world."
        if "?x" in text:
            return "Of which county is Rick Scott's birthplace the capital, McLean County?"  # tells the answer
        if "Bloomington; capital of" in text:
            return "Bloomington is the capital of McLean County in Illinois."  # Illinois stands nowhere
        return "Rick Scott's place of birth is the capital of McLean County."

    wording = ModelWording(model=Scripted(answer))
    (worded,) = wording.reword([supported])
    assert set(worded.citations) == {
        "Bloomington is where Rick Scott came into the world.", "Bloomington is the capital of McLean County.",
    }  # fmt: skip
    assert worded.cited == supported.cited  # which facts each states is kept, whatever its words
    assert [item["coverage"] for item in coverage_sheet_items([worded])][:2] == [TextCoverage.FULL] * 2
    assert worded.question == supported.question
    assert worded.statement == "Rick Scott's place of birth is the capital of McLean County."
    assert wording.counts == {
        "citation: worded": 1, "citation: unreadable-reply": 1, "question: unreadable-reply": 1,
        "statement: worded": 1,
    }  # fmt: skip


def test_a_text_that_takes_its_fact_back_is_not_accepted() -> None:
    """The names are all there: only a model of entailment tells. Without one the text stays."""
    (supported,) = (one for one in made(StoreFacts(world()), "single").values() if one.category is SUP)
    myth = "It is a myth that Rick Scott was born in Bloomington."
    model = Scripted(lambda request: myth if "place of birth" in request.messages[-1].content else None)
    (worded,) = ModelWording(model=model).reword([supported])
    assert worded.citations == (myth,)
    judge = Table(lambda pair: Entailment(0, 0, 1) if "myth" in pair.premise else Entailment(1, 0, 0))
    wording = ModelWording(model=model, entailment=judge)
    (checked,) = wording.reword([supported])
    assert checked.citations == supported.citations
    assert wording.counts["citation: does not entail its facts"] == 1


def test_namesakes_may_be_told_apart_in_other_words() -> None:
    union = made(StoreFacts(world()), "union")[SUP]
    assert union.question == "Where was Rick Scott born?"
    says = {
        "politician": "Rick Scott, the American politician, was born in Bloomington.",
        "football": "Stone Mountain is where the American football player Rick Scott was born.",
    }

    def answer(request: Request) -> str | None:
        text = request.messages[-1].content
        return next((said for word, said in says.items() if word in text and "?x" not in text), None)

    (worded,) = ModelWording(model=Scripted(answer)).reword([union])
    assert set(worded.citations) == set(says.values())


def test_coverage_of_texts() -> None:
    names = ("Ann Lee", "York")
    assert classify_coverage("Ann Lee was born in York.", names) == (TextCoverage.FULL, "")
    assert classify_coverage("Ann Lee was born.", names) == (TextCoverage.ABSENT, "York")
    assert classify_coverage("Ann Lee was born in York, near Leeds.", names) == (TextCoverage.HALLUCINATED, "Leeds")
    assert not states_name("Ann Lee was born in New Yorkshire.", "York")
    assert foreign_names("In the end the Romans left York.", ["York"]) == ["Romans"]


def test_long_citations_are_cut_into_lines() -> None:
    pieces = citation_lines(sample(citations=("word " * 1_000, "short")))
    assert max(map(len, pieces)) <= 1_900
    assert pieces[-1] == "short"
    assert len(citation_lines(sample(citations=("x" * 100_000,)))) == 24
