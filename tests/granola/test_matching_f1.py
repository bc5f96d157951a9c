"""The plain matchers: SQuAD's normalisation and token-F1, em, the paper's threshold, and asking by name."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from granola.errors import MatcherError
from granola.matching import EmMatcher, F1Matcher, Levels, RulesMatcher, Verdict, in_language, matcher, matchers, squad
from granola.matching.matchers import signature
from tests.thorough import examples

# The paper's running example: "When was Barack Obama born?" (Yona et al. 2024, introduction).
OBAMA = [["August 4, 1961"], ["August 1961"], ["1961"]]


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Cat's  Hat!", "cats hat"),
        ("An apple, a day", "apple day"),
        ("U.S.A.", "usa"),
        ("Theatre", "theatre"),
        ("the", ""),
        ("Côte d'Ivoire", "côte divoire"),  # SQuAD keeps accents
    ],
)
def test_normalisation_is_squads(text: str, normal: str) -> None:
    assert squad.normalise(text) == normal


@pytest.mark.parametrize(
    ("prediction", "gold", "expected"),
    [
        # By hand: 2 * common / (words said + words of the gold answer).
        ("August 1961", "August 4, 1961", 2 * 2 / (2 + 3)),
        ("1961", "August 4, 1961", 2 * 1 / (1 + 3)),
        ("the the cat", "cat", 1.0),
        ("to be to be", "to be or not to be", 2 * 4 / (4 + 6)),  # multisets: "to be" counts twice
        ("Paris", "London", 0.0),
        ("", "", 1.0),
        ("a", "London", 0.0),
    ],
)
def test_token_f1_by_hand(prediction: str, gold: str, expected: float) -> None:
    assert squad.token_f1(prediction, gold) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("prediction", "level"),
    [("August 4, 1961", 1), ("august 1961.", 2), ("1961", 3), ("1962", None), ("4 August, 1961", None)],
)
def test_em_on_the_papers_example(prediction: str, level: int | None) -> None:
    assert EmMatcher().match(prediction, OBAMA).level == level


@pytest.mark.parametrize(
    ("prediction", "tau", "level"),
    [
        ("August 1961", 0.9, 2),
        ("August 1961", 0.8, 2),  # F1 with level 1 is exactly 0.8, and is to exceed the threshold
        ("August 1961", 0.79, 1),
        ("1961", 0.49, 1),  # 0.5 with level 1: the finest level that exceeds the threshold, not the best
        ("1961", 0.5, 2),  # 2 * 1 / (1 + 2) with level 2
        ("1961", 0.7, 3),
        ("1961", 0.99, 3),
        ("July 1962", 0.5, None),
        ("July 1962", 0.0, None),  # nothing in common is not above 0
        ("March 1961", 0.0, 1),
    ],
)
def test_f1_takes_the_finest_level_above_the_threshold(prediction: str, tau: float, level: int | None) -> None:
    assert F1Matcher(tau=tau).match(prediction, OBAMA).level == level


def test_f1_says_what_it_compared_and_how_like_it_was() -> None:
    verdict = F1Matcher().match("August 1961", [["1961"], ["in August 1961"]])
    assert verdict.rule == "token-f1"
    assert verdict.score == pytest.approx(2 / 3)
    assert verdict.compared is not None
    assert (verdict.compared.prediction, verdict.compared.tier) == ("August 1961", "1961")
    below = F1Matcher(tau=0.9).match("Paris", [["London"]])
    assert (below.level, below.rule, below.score, below.compared) == (None, "below-threshold", 0.0, None)


@pytest.mark.parametrize("name", ["em", "f1", "rules"])
def test_every_matcher_knows_an_abstention_and_an_exact_answer(name: str) -> None:
    chosen = matcher(name)
    declined = chosen.match("I don't know.", OBAMA)
    assert (declined.level, declined.abstained) == (None, True)
    assert chosen.match("No Answer", [["No Answer"]]).level == 1


@pytest.mark.parametrize("said", ["C", "C#", "C++"])
def test_marks_of_the_gold_answer_are_kept_but_by_the_published_f1(said: str) -> None:
    for name in ("em", "f1"):
        assert matcher(name).match(said, [["C++"]]).level == (1 if said == "C++" else None)
    assert matcher("f1-published").match(said, [["C++"]]).level == 1
    assert matcher("em").match("$5", [["£5"]]).level is None
    assert matcher("f1").match("42 percent of them", [["42 %"]]).level == 1


def test_matchers_are_values_with_a_name_and_a_signature() -> None:
    assert matcher("f1") == F1Matcher(tau=0.3)
    assert matcher("f1", tau=0.7) != matcher("f1")
    assert matcher("rules") == RulesMatcher()
    for name, known in (("em", "em"), ("f1", r"f1\|tau:>0\.3"), ("rules", "rules")):
        assert re.fullmatch(rf"{known}\|replies:cut\|v:[0-9a-f]{{8}}", matcher(name).signature())


@pytest.mark.parametrize(
    ("name", "tau", "told"),
    [
        ("rule", None, "did you mean 'rules'"),
        ("F1", None, "did you mean 'f1'"),
        ("bertscore", None, "there are em, f1, f1-published, judge, rules"),
        ("f1", 1.0, "tau is 1; allowed: 0 and more, below 1"),
        ("f1", -0.1, "allowed: 0 and more, below 1"),
        ("f1", float("nan"), "allowed: 0 and more, below 1"),
        ("rules", 0.5, "has no threshold"),
        ("judge", None, "asks a model; give one as `model`"),
    ],
)
def test_an_unknown_name_or_a_bad_setting_is_told(name: str, tau: float | None, told: str) -> None:
    with pytest.raises(MatcherError, match=told):
        matcher(name, tau=tau)


@settings(max_examples=examples(500), deadline=None)
@given(st.text(alphabet=st.sampled_from("aAnthe é'-_.,!“–\t\n\x1c\x01  \u0301ǅ1ß"), max_size=30))
@example("the–a “an” a_b a\x01 the")
def test_the_quick_way_to_tokens_is_the_defined_one(text: str) -> None:
    assert list(squad.tokens(text)) == squad.normalise(text).split()


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "to", "be", "or", "not"]), max_size=8).map(
        " ".join
    ),
    st.lists(st.lists(st.sampled_from(["a", "cat", "mat", "to", "be", "the"]), max_size=5).map(" ".join), max_size=4),
)
def test_the_best_f1_of_a_level_is_the_greatest_of_its_names(said: str, names: list[str]) -> None:
    expected = max((squad.f1(squad.tokens(said), squad.tokens(name)) for name in names), default=0.0)
    assert squad.best_f1(said, names) == pytest.approx(expected, abs=1e-12)
    assert all(squad.token_f1(said, n) == pytest.approx(squad.f1(squad.tokens(said), squad.tokens(n))) for n in names)


@dataclass(frozen=True, kw_only=True)
class Contained:
    """A matcher of another package: the name stands in the prediction."""

    name: str = "contained"
    language: str = "en"

    def signature(self) -> str:
        return signature("contained")

    def match(self, prediction: str, levels: Levels, question: str | None = None) -> Verdict:
        for number, names in enumerate(levels, start=1):
            if any(name in prediction for name in names):
                return Verdict(level=number, rule="contained")
        return Verdict(level=None, rule="absent")


def test_a_registered_matcher_is_asked_for_by_its_name_and_in_a_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matchers, "MATCHERS", dict(matchers.MATCHERS))
    matchers.register("contained", Contained, "language")
    chosen = matcher("contained", language="de")
    assert chosen == in_language(matcher("contained"), "de") == Contained(language="de")
    assert chosen.match("in Berlin", [["Bonn"], ["Berlin"]]).level == 2
    with pytest.raises(MatcherError, match="has no threshold"):
        matcher("contained", tau=0.5)
    with pytest.raises(MatcherError, match="already"):
        matchers.register("contained", Contained)
    assert in_language(matcher("rules"), "fr") == RulesMatcher(language="fr")


def test_help_and_service_list_the_registered_matchers() -> None:
    from granola.base.settings import settings_of
    from granola.commands.score import Score
    from granola.service.schemas import ScoreRequest

    schema = ScoreRequest.model_json_schema()
    assert schema["properties"]["matcher"]["enum"] == [name for name in matchers.MATCHERS if name != "judge"]
    told = {one.field: one.setting.help for one in settings_of(Score)}
    assert all(name in told["matcher"] for name in matchers.MATCHERS)
    assert matchers.matcher_names(with_setting="tau") == "f1 or f1-published"
    assert matchers.matcher_names(asks_a_model=False) == "rules, f1, f1-published or em"


def test_the_registry_loads_no_matcher() -> None:
    code = "import sys, granola.matching.matchers; print([n for n in sys.modules if n.startswith('granola.matching.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['granola.matching.matchers']"


def test_a_threshold_may_be_in_the_name() -> None:
    assert matcher("f1:0.5") == matcher("f1", tau=0.5)
    for name, tau in (("f1:0.5", 0.4), ("f1:x", None), ("rules:0.5", None)):
        with pytest.raises(MatcherError):
            matcher(name, tau=tau)
