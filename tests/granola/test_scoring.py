"""Scoring: verdicts into items, items into reports, ids that do not fit, and the laws of the whole."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import TieredRow
from granola import __version__
from granola.errors import MatcherError, PredictionError
from granola.matching import matcher
from granola.scoring.metrics import names_of
from granola.scoring.predictions import Prediction, PredictionFile
from granola.scoring.scores import ScoreReport, ScoreSettings, bits_and_share_of_level, score
from granola.scoring.tiered_file import PackedRows, TieredFile


def row(id_: str, *levels: str, relation: str | None = "P19") -> TieredRow:
    """A row whose levels are given as `name|alias`, the answer first."""
    tiers = []
    for names in levels:
        text, *aliases = names.split("|")
        tiers.append(Level(tiers=(Tier(text=text, aliases=tuple(aliases)),)))
    return TieredRow(
        id=id_, question="Where?", answers=(levels[0].split("|")[0],), levels=tuple(tiers), relation=relation
    )


def said(**texts: str) -> PredictionFile:
    return PredictionFile(
        name="said.jsonl", predictions={id_: Prediction(id=id_, text=text) for id_, text in texts.items()}
    )


ROWS = [
    row("a", "Kunming", "Yunnan", "China|PRC"),
    row("b", "Paris", "France"),
    row("c", "jazz", relation="P136"),
    row("d", "rock music", relation="P136"),
]


def test_items_and_distribution() -> None:
    report = score(ROWS, said(a="the PRC", b="Paris", c="I don't know", d="polka"), matcher("rules"))
    assert [(item.id, item.status) for item in report.items] == [
        ("a", "matched"), ("b", "matched"), ("c", "abstained"), ("d", "wrong"),
    ]  # fmt: skip
    assert report.overall.distribution == {"1": 1, "2": 0, "3": 1, "wrong": 1, "idk": 1, "unscored": 0}
    first = report.items[0].to_json()
    assert first["weight"] == pytest.approx(math.exp(-1))  # level 3, lambda 1/2
    assert first["compared"] == {"prediction": "the PRC", "tier": "PRC"}
    assert report.items[3].to_json()["weight"] is None


def test_micro_macro_and_per_relation() -> None:
    report = score(ROWS, said(a="China", b="Berlin", c="jazz", d="rock music"), matcher("rules"))
    assert {name: group.n for name, group in report.relations.items()} == {"P19": 2, "P136": 2}
    assert report.relations["P19"].estimates["granola_accuracy"].value == 0.5
    assert report.relations["P136"].estimates["granola_accuracy"].value == 1.0
    assert report.overall.estimates["standard_accuracy"].value == 0.5
    assert report.macro["granola_accuracy"].value == 0.75
    assert report.macro["granola_accuracy"].n == 2


def test_rows_without_a_relation_have_no_macro() -> None:
    report = score([row("a", "Paris", relation=None)], said(a="Paris"), matcher("em"))
    assert (report.relations, report.macro) == ({}, {})


def test_level_one_takes_every_gold_answer_and_every_alias() -> None:
    given_row = TieredRow(
        id="x",
        question="?",
        answers=("NYC", "Gotham"),
        levels=(Level(tiers=(Tier(text="New York", aliases=("NYC",)),)),),
    )
    assert names_of(given_row) == [["NYC", "Gotham", "New York"]]


def weighed(id_: str, *levels: tuple[float | None, ...], relation: str | None = "P19") -> TieredRow:
    """A row with tiers named `1a`, `1b`, `2a` and so on, of the bits given by level."""
    made = tuple(
        Level(tiers=tuple(Tier(text=f"name{n}{chr(97 + i)}", bits=b) for i, b in enumerate(bits)))
        for n, bits in enumerate(levels, 1)
    )
    return TieredRow(id=id_, question="Where?", answers=("name1a",), levels=made, relation=relation)


@pytest.mark.parametrize(
    ("levels", "number", "expected"),
    [
        (((16.0,), (8.0,), (4.0,)), 3, (4.0, 0.25)),
        (((16.0,), (8.0, 12.0)), 2, (12.0, 0.75)),  # the most that one of the level's tiers tells
        (((16.0,), (None, 8.0)), 2, (8.0, 0.5)),
        (((16.0,), (0.0,)), 2, (0.0, 0.0)),  # zero is a figure
        (((16.0,), (None,)), 2, (None, None)),
        (((None,), (8.0,)), 2, (None, None)),
        (((8.0,), (9.0,)), 2, (None, None)),  # bits that rise are no bits
        (((0.0,), (0.0,)), 2, (0.0, None)),  # no share of nothing
        (((16.0,), (8.0,)), None, (0.0, 0.0)),  # nothing matched
        (((16.0,), (None,)), None, (0.0, 0.0)),
        (((None,), (8.0,)), None, (None, None)),
        (((0.0,), (0.0,)), None, (0.0, None)),
    ],
)
def test_bits_told_at_a_level(
    levels: tuple[tuple[float | None, ...], ...], number: int | None, expected: tuple[float | None, float | None]
) -> None:
    assert bits_and_share_of_level(weighed("a", *levels).levels, number) == expected


def test_bits_given_the_question_count_where_every_level_has_them() -> None:
    levels = weighed("a", (16.0,), (8.0,), (4.0,)).levels

    def asked(*bits: float | None) -> tuple[Level, ...]:
        return tuple(
            Level(tiers=(replace(level.tiers[0], bits_asked=own),)) for level, own in zip(levels, bits, strict=True)
        )

    assert bits_and_share_of_level(asked(6.0, 3.0, 0.0), 2) == (3.0, 0.5)
    assert bits_and_share_of_level(asked(6.0, 3.0, 0.0), 3) == (0.0, 0.0)
    assert bits_and_share_of_level(asked(6.0, None, 0.0), 2) == (8.0, 0.5)  # one level lacks them
    packed = PackedRows([replace(weighed("a", (16.0,)), levels=asked(6.0, 3.0, 0.0))])
    assert bits_and_share_of_level(packed[0].levels, 2) == (3.0, 0.5)


def test_bits_given_the_question_are_in_the_signature() -> None:
    row_ = weighed("a", (16.0,), (8.0,))
    asked = replace(row_, levels=tuple(
        replace(level, tiers=tuple(replace(t, bits_asked=b) for t in level.tiers))
        for level, b in zip(row_.levels, (6.0, 1.0), strict=True)
    ))  # fmt: skip
    one, other = (score([each], said(a="name2a"), matcher("rules")) for each in (row_, asked))
    assert one.overall.estimates["informativeness_bits"].value != other.overall.estimates["informativeness_bits"].value
    assert str(one.signature) != str(other.signature)


def test_informativeness_by_bits_beside_the_papers_and_unscored_without_bits() -> None:
    ladders = [((16.0,), (4.0,)), ((10.0,), (5.0,)), ((None,), (None,)), ((8.0,), (2.0,)), ((6.0,), (3.0,))]
    rows = [weighed(id_, *ladder) for id_, ladder in zip("abcde", ladders, strict=True)]
    predictions = said(a="name2a", b="name1a", c="name2a", d="another", e="I don't know")
    report = score(rows, predictions, matcher("em"), ScoreSettings(resamples=200))
    found = {name: (estimate.value, estimate.n) for name, estimate in report.overall.estimates.items()}
    # Shares 4/16 and 10/10 of two ladders, none of the two where nothing matched; c's ladder has no bits.
    assert found["informativeness_bits"] == ((0.25 + 1) / 4, 4)
    assert found["informativeness_bits_matched"] == ((0.25 + 1) / 2, 2)
    assert found["bits"] == ((4 + 10) / 4, 4)
    assert found["bits_matched"] == ((4 + 10) / 2, 2)
    # Levels 2, 1, 2, none, none.
    assert found["informativeness"] == (pytest.approx((1 + 2 * math.exp(-0.5)) / 5), 5)
    assert [(item.to_json()["bits"], item.to_json()["bits_share"]) for item in report.items] == [
        (4.0, 0.25), (10.0, 1.0), (None, None), (0.0, 0.0), (0.0, 0.0),
    ]  # fmt: skip
    assert "|n:5|bits:4|boot:200|" in str(report.signature)
    assert report.to_json()["definitions"]["bits"]["range"] == [0.0, None]


def test_the_signature_names_every_setting() -> None:
    report = score(
        TieredFile(rows=ROWS[:2], snapshot="feed0123"),
        said(a="China", b="Paris"),
        matcher("f1", tau=0.7),
        ScoreSettings(lambda_=0.25, resamples=50, seed=3),
    )
    assert re.fullmatch(
        r"matcher:f1\|tau:>0\.7\|replies:cut\|v:[0-9a-f]{8}\|lambda:0\.25\|standard:gold\|tiers:[0-9a-f]{8}\|snapshot:feed0123\|n:2"
        rf"\|boot:50\|seed:3\|version:{re.escape(__version__)}",
        str(report.signature),
    )


def test_missing_predictions_are_an_error_unless_allowed_and_then_stand_in_no_score() -> None:
    with pytest.raises(PredictionError, match=r'2 of 4 questions have no prediction \("c", "d"\).*--allow-missing'):
        score(ROWS, said(a="China", b="Paris"), matcher("rules"))
    report = score(ROWS, said(a="China", b="Paris"), matcher("rules"), ScoreSettings(allow_missing=True))
    assert report.overall.n == 2
    assert report.overall.unscored == 2
    assert report.overall.estimates["granola_accuracy"].value == 1.0
    assert "missing:2-unscored" in str(report.signature)
    unscored = report.items[2].to_json()
    assert (unscored["status"], unscored["level"], unscored["abstained"]) == ("unscored", None, None)
    genres = report.relations["P136"]
    assert genres.n == 0
    assert math.isnan(genres.estimates["granola_accuracy"].value)
    assert report.macro["granola_accuracy"].n == 1


def test_unknown_ids_are_an_error_unless_ignored() -> None:
    predictions = said(a="China", b="Paris", c="jazz", d="rock", e="1", f="2", g="3", h="4")
    with pytest.raises(PredictionError, match=r'4 of 8 predictions are for unknown ids \("e", "f", "g", \.\.\.\)'):
        score(ROWS, predictions, matcher("rules"))
    report = score(ROWS, predictions, matcher("rules"), ScoreSettings(allow_missing=True))
    assert report.overall.n == 4
    assert "unknown:4-ignored" in str(report.signature)


@pytest.mark.parametrize(("resamples", "lambda_"), [(9, 0.5), (100_001, 0.5), (10, -1.0)])
def test_bad_settings_are_told(resamples: int, lambda_: float) -> None:
    with pytest.raises(MatcherError, match="allowed"):
        score(ROWS[:1], said(a="China"), matcher("rules"), ScoreSettings(resamples=resamples, lambda_=lambda_))


def test_the_json_form_has_no_nan_and_says_what_the_scores_are() -> None:
    data = score(ROWS, said(a="x", b="x", c="x", d="x"), matcher("rules"), ScoreSettings(resamples=20)).to_json()
    text = json.dumps(data, allow_nan=False)
    told = json.loads(text)["metrics"]
    assert told["informativeness_matched"] == {"value": None, "low": None, "high": None, "n": 0}
    assert told["informativeness"] == {"value": 0.0, "low": 0.0, "high": 0.0, "n": 4}
    assert data["definitions"].keys() == data["metrics"].keys()
    assert data["definitions"]["granola_accuracy"]["better"] == "higher"


NAMES = st.sampled_from(["Paris", "France", "Kunming", "1961", "August 1961", "a composer", "three", "New York"])
LEVELS = st.lists(NAMES, min_size=1, max_size=3, unique=True)
SAID = st.sampled_from(["Paris", "in France", "1961", "3", "IDK", "a French composer", "York", "Kunming, Asia"])


@settings(deadline=None)
@pytest.mark.parametrize("name", ["rules", "f1", "em"])
@given(st.lists(st.tuples(LEVELS, SAID), min_size=1, max_size=6), NAMES)
def test_a_coarser_level_never_lowers_a_plain_matchers_accuracy(
    name: str, cases: list[tuple[list[str], str]], coarser: str
) -> None:
    """Never for em and f1; for `rules` where the added level is no finer than what is there.

    Not for `Kunming, China`: a coarser level, say France, may refute a container that nothing spoke against.
    """
    if name == "rules":  # a gold answer of one level is no ladder, and becomes one
        cases = [(levels, text) for levels, text in cases if len(levels) > 1]
        assume(cases)
    predictions = said(**{f"q{i}": text for i, (_, text) in enumerate(cases)})
    rows = [row(f"q{i}", *levels) for i, (levels, _) in enumerate(cases)]
    added = [row(f"q{i}", *levels, coarser) for i, (levels, _) in enumerate(cases)]

    def accuracy(given_rows: list[TieredRow]) -> ScoreReport:
        return score(given_rows, predictions, matcher(name), ScoreSettings(resamples=10))

    before, after = accuracy(rows), accuracy(added)
    key = "granola_accuracy"
    assert after.overall.estimates[key].value >= before.overall.estimates[key].value
    for old, new in zip(before.items, after.items, strict=True):
        if old.verdict and old.verdict.level:
            assert new.verdict is not None
            if old.verdict.rule.endswith(":coarser"):  # nearly the gold answer, until a level says what it is worth
                assert new.verdict.level is not None
            else:
                assert new.verdict.level == old.verdict.level
