"""From queries to samples: extension, the four edits, their proofs, words, the split, the folder."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import orjson
import pytest

from abstraction.errors import RowError
from abstraction.files.writing import write_records
from granola.commands import AttributionBuild
from granola.errors import UsageError
from granola.evidence.attribution.attribution_task import (
    AttributionSample,
    Category,
    Complexity,
    read_samples,
)
from granola.evidence.attribution.benchmark_building import (
    COMPLEXITY,
    PAPER_COUNTS,
    CategoryShares,
    SampleMaker,
    count_by_citation_words,
    count_by_label,
    split_by_subject,
    start_entities,
    subset_in_paper_shares,
)
from granola.evidence.attribution.sample_queries import (
    EvidenceEditor,
    Extension,
    QueryExtender,
    SourcedQuery,
    read_queries,
    reason_unproven,
    unique_facts,
)
from granola.evidence.attribution.sample_texts import FactWording, RelationValues
from kg.graph.logical_query import Fact, LogicalQuery, Shape, StoreFacts, ground
from kg.store.sqlite import SQLiteStore
from tests.attribution_world import PATH, SHAPES, TREE, UNION, branch, single, world
from tests.thorough import thorough_only
from tests.worlds import snapshot_at

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="module")
def facts() -> Iterator[StoreFacts]:
    store: SQLiteStore = world()
    yield StoreFacts(store)
    store.close()


def editor(facts: StoreFacts) -> EvidenceEditor:
    return EvidenceEditor(facts, RelationValues(facts))


def made(facts: StoreFacts, name: str) -> dict[Category, AttributionSample]:
    """All samples of the query of a shape, by category."""
    maker = SampleMaker(facts, shares=CategoryShares.ALL, extend=False)
    found = list(maker.samples([SourcedQuery(id=name, query=SHAPES[name], source="test")]))
    return {sample.category: sample for sample in found if sample.category}


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_question_and_statement_are_the_same_in_every_category(facts: StoreFacts, name: str) -> None:
    samples = made(facts, name)
    assert len({(sample.question, sample.statement) for sample in samples.values()}) == 1
    assert {sample.complexity for sample in samples.values()} == {COMPLEXITY[SHAPES[name].shape]}


def test_a_single_triple_is_never_partially_supported(facts: StoreFacts) -> None:
    assert Category.PARTIAL not in made(facts, "single")
    assert editor(facts).evidence_for_category(Category.PARTIAL, ground(SHAPES["single"], facts), random.Random(0)) == (
        (),
    )


def test_a_path_by_hand(facts: StoreFacts) -> None:
    """Bloomington is the capital of McLean County: section 3.3's own example, with its capital the right way round."""
    samples = made(facts, "path")
    supported = samples[Category.SUPPORTIVE]
    assert supported.question == "What is the birthplace of Rick Scott the capital of?"
    assert supported.statement == "The birthplace of Rick Scott is the capital of McLean County."
    assert set(supported.citations) == {
        "Rick Scott was born in Bloomington.", "Bloomington is the capital of McLean County.",
    }  # fmt: skip
    *instead, left = samples[Category.PARTIAL].evidence  # how the subject and the answer hang together is not there
    assert left.text == "Bloomington is the capital of McLean County."
    assert all(fact.subject == "Q10" and fact.property != "P19" for fact in instead)
    told = set(samples[Category.CONTRADICTORY].citations) - {"Rick Scott was born in Bloomington."}
    assert told < {
        "Bloomington is the capital of Peoria County.", "Bloomington is the capital of Cook County.",
    }  # fmt: skip
    assert (
        not set(samples[Category.IRRELEVANT].citations) & set(supported.citations)
        if (Category.IRRELEVANT in samples)
        else True
    )


def test_a_tree_loses_one_subject(facts: StoreFacts) -> None:
    left = made(facts, "tree")[Category.PARTIAL]
    assert left.citations in (
        ("Rick Scott was educated at the University of Missouri-Kansas City.",),
        ("Sharice Davids was educated at the University of Missouri-Kansas City.",),
    )
    assert left.question == "Where did both Rick Scott and Sharice Davids study?"


@pytest.fixture
def one_school_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if people studied at one school, for a world that has few relations."""
    monkeypatch.setattr(RelationValues, "is_often_multivalued", lambda *_: False)


@pytest.mark.parametrize("name", ["tree"])
def test_what_subjects_have_several_of_contradicts_none(facts: StoreFacts, name: str) -> None:
    """Somebody may have studied at two schools."""
    assert Category.CONTRADICTORY not in made(facts, name)
    assert RelationValues(facts).is_often_multivalued("P69")
    assert not RelationValues(facts).is_often_multivalued("P19")


@pytest.mark.usefixtures("one_school_each")
def test_a_tree_is_contradicted_by_one_other_answer_for_all(facts: StoreFacts) -> None:
    told = made(facts, "tree")[Category.CONTRADICTORY]
    assert {fact.object for fact in told.evidence} <= {"Q21", "Q22"}
    assert len({fact.object for fact in told.evidence}) == 1


def test_a_union_keeps_one_answer_when_contradicted(facts: StoreFacts) -> None:
    """Rick Scott (Q10) in Bloomington, his namesake in Stone Mountain: one of them is replaced."""
    told = made(facts, "union")[Category.CONTRADICTORY]
    assert told.question == "Where was Rick Scott born?"
    objects = [fact.object for fact in told.evidence]
    assert len({"Q1", "Q2"} & set(objects)) == 1
    assert set(objects) - {"Q1", "Q2"} <= {"Q3", "Q4"}
    assert "Rick Scott (American politician)" in " ".join(told.citations)


@pytest.mark.usefixtures("one_school_each")
def test_what_is_false_is_false_at_every_rank(facts: StoreFacts) -> None:
    """Tom Waits has a deprecated statement of the university: it cannot contradict that he was at Reed."""
    query = single("Q14", "P69")
    grounding = ground(query, facts)
    assert grounding.answers == ("Q21",)
    for seed in range(40):
        edited = editor(facts).evidence_for_category(Category.CONTRADICTORY, grounding, random.Random(seed))
        assert unique_facts(edited)[0].object == "Q22"


WRONG = {
    "supportive": (Category.SUPPORTIVE, ("Q10 P19 Q1",), "the evidence gives other answers"),
    "nothing left": (Category.PARTIAL, (), "no evidence is left"),
    "all left": (Category.PARTIAL, ("Q10 P19 Q1", "Q1 P1376 Q5"), "the rest gives all the answers still"),
    "made up": (Category.PARTIAL, ("Q10 P19 Q3",), "evidence that is not in the graph"),
    "no needed fact": (Category.PARTIAL, ("Q10 P106 Q30",), "no needed fact is left"),
    "true": (Category.CONTRADICTORY, ("Q10 P19 Q1", "Q1 P1376 Q5"), "the edited facts give no other answer"),
    "both": (
        Category.CONTRADICTORY, ("Q10 P19 Q1", "Q1 P1376 Q5", "Q1 P1376 Q6"), "an answer is given still",
    ),
    "answers": (Category.IRRELEVANT, ("Q10 P19 Q1", "Q1 P1376 Q5"), "irrelevant facts give an answer"),
    "needed": (Category.IRRELEVANT, ("Q10 P19 Q1",), "an irrelevant fact is needed"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_label_that_does_not_hold_is_refused(facts: StoreFacts, name: str) -> None:
    category, cited, reason = WRONG[name]
    evidence = (tuple(Fact(*one.split()) for one in cited),)
    assert reason_unproven(category, ground(PATH, facts), evidence, facts) == reason


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_every_sample_is_proved_anew(facts: StoreFacts, name: str) -> None:
    for category, sample in made(facts, name).items():
        query = LogicalQuery.from_json(sample.query or {})
        evidence = (tuple(one.fact for one in sample.evidence),)
        assert reason_unproven(category, ground(query, facts), evidence, facts) is None


def extended(facts: StoreFacts, query: LogicalQuery, seed: int) -> Any:
    return QueryExtender(facts, RelationValues(facts)).extend(ground(query, facts), random.Random(seed))


def test_extension_options_are_drawn_alike(facts: StoreFacts) -> None:
    drawn = Counter(extended(facts, SHAPES["single"], seed)[0] for seed in range(400))
    assert set(drawn) == {Extension.UNION, Extension.HEAD, Extension.ANSWER, Extension.NONE}
    assert all(abs(number / 400 - 1 / 4) < 0.06 for number in drawn.values())
    halves = Counter(extended(facts, PATH, seed)[0] for seed in range(400))
    assert all(abs(number / 400 - 1 / 2) < 0.06 for number in halves.values())
    assert set(halves) == {Extension.HEAD, Extension.ANSWER}


def of_kind(facts: StoreFacts, query: LogicalQuery, kind: Extension) -> LogicalQuery:
    drawn = (extended(facts, query, seed) for seed in range(200))
    return next(made for option, made in drawn if option is kind and made is not None)


def test_a_union_takes_in_namesakes(facts: StoreFacts) -> None:
    made = of_kind(facts, SHAPES["single"], Extension.UNION)
    assert set(made.branches) == set(UNION.branches)


def test_a_head_leads_to_the_subject(facts: StoreFacts) -> None:
    """(Anna Scott, spouse, Rick Scott): the paper's own example."""
    made = of_kind(facts, SHAPES["single"], Extension.HEAD)
    assert (made.shape, made.branches[0].start) == (Shape.PATH, "Q12")
    assert made.branches[0].hops[0].property == "P26"
    assert ground(made, facts).answers == ("Q1",)
    words = FactWording(facts)
    assert words.question(made) == "Where was the spouse of Anna Scott born?"
    asked = words.extend_question("in what town was rick scott born", SHAPES["single"], made)
    assert asked == "In what town was the spouse of Anna Scott born?"
    assert words.extend_question("where was he born", SHAPES["single"], made) is None


def test_what_is_impossible_stays_as_it_is(facts: StoreFacts) -> None:
    """Nothing else leads to the occupation, or to whose it is, and nobody has that name."""
    assert {extended(facts, single("Q13", "P106"), seed)[1] for seed in range(60)} == {None}
    maker = SampleMaker(facts, shares=CategoryShares.ALL)
    asked = SourcedQuery(id="1", query=single("Q13", "P106"), source="test")
    assert {sample.provenance["extension"] for sample in maker.samples([asked])} == {"none"}


def test_what_is_lacking_is_drawn_again(facts: StoreFacts) -> None:
    """Trees of the world can be neither contradicted nor missed: the other categories take turns by their weights."""
    queries = [SourcedQuery(id=f"t{n}", query=TREE, source="test") for n in range(60)]
    found = Counter(sample.category for sample in SampleMaker(facts, extend=False).samples(queries))
    assert sum(found.values()) == 60
    assert set(found) == {Category.SUPPORTIVE, Category.PARTIAL}
    assert min(found.values()) > 15


def test_shares_follow_the_papers_table() -> None:
    """Twice as many single triples as wanted, no partial one among them, few contradictions: all shares hold."""
    made = [
        AttributionSample(
            id=f"{complexity}-{category}-{n}",
            question="q",
            statement="s",
            citations=("c",),
            category=category,
            complexity=complexity,
        )
        for complexity, number in zip(Complexity, (4_000, 150, 500, 900), strict=True)
        for category in Category
        for n in range(number // (3 if category is Category.CONTRADICTORY else 1))
        if (complexity, category) != (Complexity.SINGLE, Category.PARTIAL)
    ]
    kept = subset_in_paper_shares(made)
    assert len(kept) > 1_500
    assert subset_in_paper_shares(made) == kept
    tally = count_by_label(kept)
    for key, (_, _, theirs) in PAPER_COUNTS.items():
        assert abs(tally[key] / tally["all"] - theirs / PAPER_COUNTS["all"][2]) < 0.02, key


def test_table_4_adds_up() -> None:
    train, test, whole = PAPER_COUNTS["all"]
    assert train + test == whole == 161_174
    for keys in (Category, Complexity):
        assert tuple(sum(PAPER_COUNTS[key][at] for key in keys) for at in range(3)) == (train, test, whole)
    assert all(first + second == third for first, second, third in PAPER_COUNTS.values())


def test_statistics_by_hand(facts: StoreFacts) -> None:
    samples = list(made(facts, "path").values())
    assert count_by_label(samples)["all"] == len(samples)
    assert count_by_label(samples)["concatenation"] == len(samples)
    # "Rick Scott was born in Bloomington." has six words, "Bloomington is the capital of McLean County." seven.
    assert count_by_citation_words([made(facts, "path")[Category.SUPPORTIVE]]) == {10: 1}


def test_the_sides_of_a_split_share_no_subject() -> None:
    samples = [
        AttributionSample(
            id=str(n), question="q", statement="s", citations=("c",),
            query=LogicalQuery(branches=tuple(branch(f"Q{n % 70 + 100 * at}", "P19") for at in range(1, 3))).to_json(),
        )
        for n in range(400)
    ]  # fmt: skip
    sides = split_by_subject(samples, test=0.3, seed=1)
    train, test = ({one for sample in side for one in start_entities(sample)} for side in sides.values())
    assert not train & test
    assert sum(map(len, sides.values())) == 400
    assert 90 < len(sides["test"]) <= 120
    assert split_by_subject(samples, test=0.3, seed=1) == sides


def test_samples_come_back_from_a_file(facts: StoreFacts, tmp_path: Path) -> None:
    samples = [sample for name in SHAPES for sample in made(facts, name).values()]
    for format in ("jsonl", "parquet"):
        path = tmp_path / f"samples.{format}"
        write_records((one.to_json() for one in samples), path)
        assert list(read_samples(path)) == samples


_SOUND = '{"id": "a", "question": "q", "statement": "s", "citations": []'
DAMAGED = {
    '{"id": "a"}': "no question: expected a text",
    _SOUND.replace("[]", '"c"') + "}": "citations is 'c'; expected a list",
    _SOUND + ', "category": "x"}': "expected 'supportive', 'partially supportive'",
    _SOUND + ', "evidence": [{"names": ["a"]}]}': "evidence[1].subject is missing",
}


@pytest.mark.parametrize("line", DAMAGED)
def test_damaged_samples_are_rejected_with_their_place(line: str, tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text('{"schema_version": 1, "id": "0", "question": "q", "statement": "s", "citations": []}\n' + line)
    rejected: list[Any] = []
    assert len(list(read_samples(path, on_reject=rejected.append))) == 1
    assert DAMAGED[line] in rejected[0].reason
    assert rejected[0].source.endswith(":2")
    with pytest.raises(RowError, match=r"samples\.jsonl"):
        list(read_samples(path))


def test_questions_of_four_forms(tmp_path: Path) -> None:
    (tmp_path / "simple.tsv").write_text("Q10\tP19\tQ1\twhere was he born\nQ20\tR69\tQ10\twho studied there\nbad\n")
    qald = {"questions": [{
        "id": "7", "question": [{"language": "de", "string": "Wo?"}, {"language": "en", "string": "Where?"}],
        "query": {"sparql": "SELECT ?x { wd:Q10 wdt:P19 ?x }"},
        "answers": [{"results": {"bindings": [{"x": {"value": "http://www.wikidata.org/entity/Q1"}}]}}],
    }]}  # fmt: skip
    (tmp_path / "qald.json").write_bytes(orjson.dumps(qald))
    lcquad = [{"uid": 3, "question": "Where?", "sparql_wikidata": "select ?x where { wd:Q10 wdt:P19 ?x }"},
              {"uid": 4, "question": "How many?", "sparql_wikidata": "ASK { wd:Q10 wdt:P19 wd:Q1 }"}]  # fmt: skip
    (tmp_path / "lcquad.json").write_bytes(orjson.dumps(lcquad))
    (tmp_path / "own.jsonl").write_bytes(
        orjson.dumps({"id": "o", "question": "Where?", "query": SHAPES["single"].to_json()})
    )
    names = ("simple.tsv", "qald.json", "lcquad.json", "own.jsonl")
    rejected: list[Any] = []
    reasons: Counter[str] = Counter()
    found = {one.id: one for one in read_queries([tmp_path / name for name in names], reasons, rejected.append)}
    assert set(found) == {"simple-1", "simple-2", "qald-7", "lcquad-3", "own-o"}
    assert {one.query for name, one in found.items() if name != "simple-2"} == {SHAPES["single"]}
    assert found["simple-2"].query == single("Q20", "P69", forward=False)
    assert (found["qald-7"].question, found["qald-7"].gold) == ("Where?", ("Q1",))
    assert reasons == {"damaged row": 1, "yes or no": 1}
    assert rejected[0].source.endswith("simple.tsv:3")


@thorough_only
@pytest.mark.skipif(not SAMPLE.is_dir(), reason="../shared/data is not there")
def test_real_questions_are_read() -> None:
    """QALD-10: 150 of 394 have one of the shapes."""
    reasons: Counter[str] = Counter()
    asked = read_queries([SAMPLE / "qald10" / "qald_10.json.gz"], reasons, lambda row: None)
    shapes = Counter(one.query.shape for one in asked)
    assert shapes == {Shape.SINGLE: 115, Shape.TREE: 19, Shape.PATH: 13, Shape.UNION: 3}
    assert reasons.total() == 394 - 150


def test_a_benchmark_is_a_folder(tmp_path: Path) -> None:
    snapshot = snapshot_at(tmp_path / "world.sqlite", world_entities())
    settings: dict[str, Any] = {"snapshot": snapshot, "shares": "all", "mined": 64}
    building = AttributionBuild(out=tmp_path / "bench", **settings)
    first = building.run()
    assert not building.failed(first)
    folder = tmp_path / "bench"
    written = (folder / "data" / "train.jsonl").read_bytes()
    AttributionBuild(out=folder, force=True, **settings).run()
    assert (folder / "data" / "train.jsonl").read_bytes() == written
    rows = {side: list(read_samples(folder / "data" / f"{side}.jsonl")) for side in first["statistics"]["counts"]}
    assert sum(map(len, rows.values())) == first["built"]["samples"]
    card = (folder / "README.md").read_text()
    assert "| supportive | " in card
    assert "load_dataset" in card
    assert {path.name for path in folder.iterdir()} >= {"README.md", "build.json", "data"}
    with pytest.raises(Exception, match="give --force"):
        AttributionBuild(out=folder, **settings).run()


def test_a_snapshot_that_gives_nothing_is_told(tmp_path: Path) -> None:
    snapshot = snapshot_at(tmp_path / "empty.sqlite", [])
    with pytest.raises(UsageError, match="no sample can be made: there is no query"):
        AttributionBuild(snapshot=snapshot, out=tmp_path / "bench").run()
    assert not (tmp_path / "bench").exists()


def world_entities() -> list[Any]:
    from tests.attribution_world import LABELS, people, places, property_of, rest
    from tests.worlds import CLASSES

    return [*CLASSES, *people(), *places(), *rest(), *(property_of(one, label) for one, label in LABELS.items())]


_RULES: dict[str, Callable[[AttributionSample, set[str]], float]] = {
    "citations": lambda one, names: len(one.citations),
    "words": lambda one, names: sum(len(text.split()) for text in one.citations),
    "words of the first": lambda one, names: len(one.citations[0].split()),
    "names": lambda one, names: len(names),
    "names asked about": lambda one, names: sum(name.casefold() in one.question.casefold() for name in names),
    "facts that meet": lambda one, names: len(one.evidence) - len({fact.object for fact in one.evidence}),
}


@thorough_only
def test_no_rule_of_one_line_tells_two_categories_apart(sample_snapshot: Path, tmp_path: Path) -> None:
    """The best threshold of each count, as the mean share of two categories that it gets right: .5 is chance.

    What the answer's name tells is no such rule: it stands in supportive and partial evidence, by what these are.
    """
    built = AttributionBuild(snapshot=str(sample_snapshot), out=tmp_path / "bench", mined=16_000).run()
    assert built["built"]["samples"] > 3_000
    values: dict[str, dict[Category, list[float]]] = {}
    for side in ("train", "test"):
        for sample in read_samples(tmp_path / "bench" / "data" / f"{side}.jsonl"):
            names = {name for fact in sample.evidence for name in (fact.names[0], fact.names[2])}
            for rule, count in _RULES.items():
                assert sample.category is not None
                values.setdefault(rule, {}).setdefault(sample.category, []).append(count(sample, names))
    for rule, by_category in values.items():
        for first, second in combinations(by_category.values(), 2):
            assert _best_threshold(first, second) < 0.65, rule


def _best_threshold(first: list[float], second: list[float]) -> float:
    shares = ((sum(x <= limit for x in side) / len(side) for side in (first, second)) for limit in {*first, *second})
    return max(0.5 + abs(one - other) / 2 for one, other in shares)
