"""A dataset's own levels united with our ladder: by hand, laws on random ladders, the command, and scores by either."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstraction.assembly.reference_levels import CODE, NamesakePlaces, References, only, sources, united
from abstraction.pipeline import LadderMaker
from abstraction.rows import QARow, TieredRow
from abstraction.tiers import Level, Tier
from kg import snapshot
from kg.store import open_store
from kg.terms import normalise
from tests.conftest import DATA, Run

DEMO = Path(__file__).resolve().parents[2] / "granola" / "demo"


def row(*levels: str, abstained: str | None = None) -> TieredRow:
    """Levels of tiers parted by "|", a tier's aliases by "="."""
    made = []
    for level in levels:
        names = [tier.strip().split("=") for tier in level.split("|")]
        made.append(Level(tiers=tuple(Tier(text=text, aliases=tuple(more)) for text, *more in names)))
    return TieredRow(id="1", question="?", answers=(made[0].tiers[0].text,), levels=tuple(made), abstained=abstained)


def shown(found: TieredRow) -> list[str]:
    """Levels with L for a tier of the ladder, R for the reference's, both for both."""
    return [
        " | ".join(tier.text + ":" + "".join(s[0].upper() for s in sources(tier)) for tier in level.tiers)
        for level in found.levels
    ]


@pytest.mark.parametrize(
    ("ladder", "reference", "wanted"),
    [
        (("a", "b", "d"), ("a", "b", "c", "d"), ["a:LR", "b:LR", "c:R", "d:LR"]),  # between two that both have
        (("a", "b", "c"), ("a", "c"), ["a:LR", "b:L", "c:LR"]),
        (("a",), ("a", "b", "c"), ["a:LR", "b:R", "c:R"]),
        (("a", "b"), ("a", "b", "c"), ["a:LR", "b:LR", "c:R"]),
        (("a", "x", "d"), ("a", "b", "d"), ["a:LR", "x:L | b:R", "d:LR"]),  # who knows which is coarser
        (("a", "x", "y"), ("a", "b"), ["a:LR", "x:L | b:R", "y:L"]),
        (("a", "b", "c"), ("a", "c", "b"), ["a:LR", "b:LR", "c:LR"]),  # the order of ours stands
        (("a", "b=beta"), ("a", "Beta=bee"), ["a:LR", "b:LR"]),
        (("a", "b | c"), ("a", "c", "d"), ["a:LR", "b:L | c:LR", "d:R"]),
        (("a", "the United States"), ("a", "United States"), ["a:LR", "the United States:LR"]),
        (("a", "b"), ("a", "a", "b"), ["a:LR", "b:LR"]),  # a level that is the answer again
        (("a", "b"), ("a", "c=b2", "c"), ["a:LR", "b:L | c:R"]),  # a name told twice
    ],
)
def test_by_hand(ladder: tuple[str, ...], reference: tuple[str, ...], wanted: list[str]) -> None:
    assert shown(united(row(*ladder), row(*reference))) == wanted


def test_names_of_the_reference_become_aliases() -> None:
    found = united(row("a", "b=beta"), row("a=alpha", "Beta=bee"))
    assert found.levels[0].tiers[0].aliases == ("alpha",)
    assert found.levels[1].tiers[0].aliases == ("beta", "bee")


def test_counts() -> None:
    counts: Counter[str] = Counter()
    united(row("a", "b", "c"), row("a", "c", "b", "d"), counts)
    assert counts == {"known": 1, "reordered": 1, "added": 1}


def test_a_reference_to_another_answer_is_left_out() -> None:
    counts: Counter[str] = Counter()
    assert united(row("a", "b"), row("x", "y", "z"), counts) == row("a", "b")
    assert counts == {"of another answer": 2}


def test_a_reference_to_another_question_and_one_without_a_row_are_counted() -> None:
    other = replace(row("a", "c"), question="What else?")
    references = References(rows={"1": other, "2": row("a", "b")})
    assert list(references.unite([row("a", "b")])) == [row("a", "b")]
    assert references.counts == {"rows with a reference to another question": 1, "references without a row": 1}


def test_a_text_without_letters_is_no_tier() -> None:
    assert shown(united(row("a"), row("a", " ", "b"))) == ["a:LR", "b:R"]


def test_a_chain_of_a_namesake_is_left_out(sample_snapshot: Path) -> None:
    chains = {
        ("Paris", "Lamar County", "Texas", "United States"): True,
        ("Paris", "Ile-de-France region", "France", "Europe"): False,
        ("Paris", "a city of light"): False,
    }
    with closing(open_store(str(sample_snapshot))) as store:
        maker = LadderMaker(store)
        question = QARow(id="1", question="?", answers=("Paris",), answer_qids=("Q90",), relation="P19")
        made, is_of_another = maker.make(question), NamesakePlaces(lambda: maker.gazetteer)
        for chain, wanted in chains.items():
            references = References(rows={"1": row(*chain)}, is_of_another=is_of_another)
            list(references.unite([made]))
            assert (references.counts["of another answer"] > 0) is wanted, chain


def test_where_our_ladder_abstains_the_reference_stands_alone() -> None:
    found = united(row("a", abstained="no-link"), row("a", "b"))
    assert (shown(found), found.abstained, found.extra[CODE]) == (["a:LR", "b:R"], None, "no-link")
    assert (shown(only(found, "ladder")), only(found, "ladder").abstained) == (["a:LR"], "no-link")
    assert united(row("a", abstained="no-link"), row("a")).abstained == "no-link"


_NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1, max_size=6)


@st.composite
def _ladders(draw: st.DrawFn) -> TieredRow:
    names = ["a", *(name for name in draw(_NAMES) if name != "a")]
    levels, rest = ["a"], names[1:]
    while rest:
        size = draw(st.integers(1, min(2, len(rest))))
        levels.append(" | ".join(rest[:size]))
        rest = rest[size:]
    return row(*levels)


@given(_ladders(), _ladders())
def test_every_tier_of_both_stands_once(ladder: TieredRow, reference: TieredRow) -> None:
    found = united(ladder, reference)
    names = [normalise(name) for level in found.levels for name in level.names()]
    assert len(names) == len(set(names))
    told = {tier.text for one in (ladder, reference) for level in one.levels for tier in level.tiers}
    assert set(names) == told
    own = only(found, "ladder")
    assert [level.names() for level in own.levels] == [level.names() for level in ladder.levels]
    theirs = {name for level in only(found, "reference").levels for name in level.names()}
    assert theirs == {name for level in reference.levels for name in level.names()}
    assert shown(united(found, reference)) == shown(found)  # once more changes nothing


@given(_ladders(), _ladders())
def test_an_added_tier_stands_between_its_neighbours(ladder: TieredRow, reference: TieredRow) -> None:
    found = united(ladder, reference)
    at = {name: number for number, level in enumerate(found.levels) for name in level.names()}
    own = {name for level in ladder.levels for name in level.names()}
    order = [level.names() for level in reference.levels]
    for number, names in enumerate(order):
        for name in names:
            if name in own:
                continue
            before = max(at[n] for ns in order[:number] for n in ns if n in own)
            assert at[name] > min(before, at[name] - 1)
            later = [at[n] for ns in order[number + 1 :] for n in ns if n in own and at[n] > before]
            assert not later or at[name] < min(later)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("references")
    snapshot.build([DEMO / "wikidata.json"], folder / "demo.sqlite")
    asked = [json.loads(line) for line in (DEMO / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    with (folder / "reference.jsonl").open("w", encoding="utf-8") as stream:
        for one in asked:
            if one["id"] in ("demo-003", "demo-001"):
                coarser = ["New England", "the USA"] if one["id"] == "demo-003" else []
                levels = [one["answer"] if isinstance(one["answer"], str) else one["answer"][0], *coarser]
                stream.write(json.dumps({**one, "levels": levels}) + "\n")
    return folder


def test_the_command_and_scores_by_either(run: Run, demo: Path) -> None:
    tiers = ["tiers", DEMO / "questions.jsonl", "--snapshot", demo / "demo.sqlite", "--out", demo / "t.jsonl"]
    status, told, problems = run(*tiers, "--reference", demo / "reference.jsonl")
    assert (status, problems) == (0, "")
    assert "1 added, 1 known" in told
    assert "rows without a reference" in told
    rows = {row["id"]: row for row in map(json.loads, (demo / "t.jsonl").read_text(encoding="utf-8").splitlines())}
    found = [[(t["text"], t["from"]) for t in level["tiers"]] for level in rows["demo-003"]["levels"]]
    assert found[1:3] == [
        [("Maine", ["ladder"]), ("New England", ["reference"])], [("United States", ["ladder", "reference"])]
    ]  # fmt: skip
    (demo / "p.jsonl").write_text('{"id": "demo-003", "prediction": "New England"}\n', encoding="utf-8")
    score = ["score", demo / "t.jsonl", demo / "p.jsonl", "--allow-missing", "--json"]
    by = {}
    for source in ("both", "ladder", "reference"):
        status, told, _ = run(*score, *([] if source == "both" else ["--tiers-from", source]))
        assert status == 0
        by[source] = json.loads(told)
    accuracy = {source: one["metrics"]["granola_accuracy"]["value"] for source, one in by.items()}
    assert accuracy == {"both": 1.0, "ladder": 0.0, "reference": 1.0}
    assert len({one["signature"] for one in by.values()}) == 3
    status, told, _ = run("audit", demo / "t.jsonl", "--snapshot", demo / "demo.sqlite", "--entailment", "--json")
    assert status == 0
    assert json.loads(told)["total"]["unchecked"] == 1


@pytest.mark.skipif(not (DATA / "granola_eq").is_dir(), reason="GRANOLA-EQ's rows are not in ../shared/data")
def test_real_rows_keep_every_tier_once(sample_snapshot: Path) -> None:
    from abstraction.pipeline import make_ladders
    from abstraction.rows import read_questions
    from kg.store import open_store

    path = DATA / "granola_eq" / "places_dev.jsonl"
    references, bad = References.read(path)
    assert not bad
    rows = make_ladders(read_questions([path]), open_store(str(sample_snapshot)))
    for found in references.unite(rows):
        names = [normalise(name) for level in found.levels for tier in level.tiers for name in {tier.text}]
        assert len(names) == len(set(names))
        reference = references.rows[found.id].levels
        if found.answers[0] not in reference[0].names():
            continue  # of another answer
        told = {normalise(tier.text) for level in reference for tier in level.tiers}
        every = {normalise(name) for level in found.levels for name in level.names()}
        assert {name.removeprefix("the ") for name in told} <= {name.removeprefix("the ") for name in every}
    assert references.counts["rows without a reference"] == 0
