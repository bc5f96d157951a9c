"""What is kept between questions is bounded in its size, whatever texts are sent."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import pytest

import abstraction
import kg
from kg.bounded_cache import SizedDict
from kg.terms import normalise
from kg.walks import graph
from kg.walks.graph import Graph
from tests.worlds import entity, maker, row, store_of

# Their texts are names of the project's own tables, or ids that were checked; others raise, and nothing is kept.
CHECKED = {
    "abstraction.classes.wanted",
    "abstraction.descriptions.attested_words._written",
    "abstraction.descriptions.attested_words.common_types",
    "abstraction.descriptions.kind_grammar.heads",
    "abstraction.language.languages.language",
    "abstraction.language.units._by_sign",
    "abstraction.language.units._by_spelling",
    "abstraction.language.units.units",
    "abstraction.properties.with_role",
    "abstraction.questions.question_kinds._words_of",
    "abstraction.questions.relation_wording._row",
    "kg.reading.snaks._entity_value",
}
LONG = 4_000


def _cached() -> Iterator[tuple[str, Any]]:
    """Functions of the two packages that keep results, by their full names."""
    for package in (kg, abstraction):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            try:
                module = importlib.import_module(found.name)
            except ImportError:  # of an extra that is not installed
                continue
            for name, value in vars(module).items():
                if hasattr(value, "cache_info") and value.__module__ == found.name:
                    yield f"{found.name}.{name}", value


def test_every_cache_of_texts_has_a_longest_text() -> None:
    found = dict(_cached())
    unbounded = {
        name
        for name, function in found.items()
        if hasattr(function, "cache_parameters")  # `lru_cache` itself
        and any("str" in str(one.annotation) for one in inspect.signature(function).parameters.values())
    }
    assert unbounded == CHECKED
    assert "abstraction.questions.relation_wording.read_wording" in found.keys() - unbounded


def test_rows_of_long_texts_fill_no_cache_of_a_function() -> None:
    made = maker(entity("Q491", "Springfield", "city in France", P31="Q515", P131="Q142"), entity("Q142", "France"))
    bounded = [function for name, function in _cached() if name not in CHECKED]

    def ask(number: int) -> None:
        text = f"Paris {'and a b ' * (LONG // 8)} {number}"
        made.make(row(text, "P131", question=f"Where is {text}?", subject=text))
        made.make(row("Springfield", "P131", qid="Q491", extra={"answer_entity_description": f"city in {text}"}))

    for number in range(5):
        ask(number)
    before = sum(function.cache_info().currsize for function in bounded)
    for number in range(5, 45):
        ask(number)
    assert sum(function.cache_info().currsize for function in bounded) - before < 40, "a row keeps less than a text"


def test_names_that_are_looked_up_are_kept_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "FOUND", 50_000)
    seen = Graph(store_of(entity("Q1", "Springfield")))
    for number in range(100):
        assert seen.find(f"{number} {'x' * LONG}") == ()
    assert isinstance(seen._matches, SizedDict)
    assert 0 < sum(map(len, seen._matches)) <= seen._matches.held <= 50_000
    assert [match.id for match in seen.find("Springfield")] == ["Q1"]


def test_a_large_entity_counts_as_several() -> None:
    many = entity("Q1", "Q1", P31=[f"Q{number}" for number in range(10, 410)])
    seen = Graph(store_of(many, entity("Q2", "x" * 40_000), entity("Q3", "small")))
    sizes = []
    for qid in ("Q3", "Q404404", "Q1", "Q2"):
        before = seen.held
        seen.fetch([qid])
        sizes.append(seen.held - before)
    assert sizes == [1, 1, 11, 11]
    assert seen.with_entity(entity("Q3", "y" * 8_000)).held == seen.held == 24


def test_names_are_normalised_alike_whether_kept_or_not() -> None:
    for name in ("  A  B ", "É " * 80, "x" * 500):
        assert normalise(name) == normalise(name + " ")
