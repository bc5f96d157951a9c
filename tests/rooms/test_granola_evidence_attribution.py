"""Benchmarks of evidence and answers: one query in all four categories, and an evaluator that tells them apart."""

from __future__ import annotations

from granola.evidence.attribution.attribution_task import Category, scores_of, verdict_row
from granola.evidence.attribution.benchmark_building import CategoryShares, SampleMaker
from granola.evidence.attribution.evaluators import GraphEvaluator
from granola.evidence.attribution.sample_queries import SourcedQuery
from granola.evidence.evidence_task import EstimateSettings
from kg.graph.logical_query import StoreFacts
from kg.graph.sparql_shapes import query_of_sparql
from tests.attribution_world import world

BIRTHPLACE = "SELECT ?x WHERE { wd:Q10 wdt:P19 ?x }"


def test_a_query_becomes_samples_that_an_evaluator_tells_apart() -> None:
    facts = StoreFacts(world())
    maker = SampleMaker(facts, shares=CategoryShares.ALL, extend=False)
    asked = SourcedQuery(id="1", query=query_of_sparql(BIRTHPLACE), source="example", question="Where was he born?")
    samples = list(maker.samples([asked]))
    assert [sample.category for sample in samples] == [
        Category.SUPPORTIVE, Category.CONTRADICTORY, Category.IRRELEVANT,
    ]  # fmt: skip
    assert {sample.statement for sample in samples} == {"Rick Scott was born in Bloomington."}
    assert samples[0].citations == ("Rick Scott was born in Bloomington.",)

    graph = GraphEvaluator(facts)
    rows = [verdict_row("graph", sample, judged) for sample, judged in zip(samples, graph.judge(samples), strict=True)]
    assert scores_of(rows, EstimateSettings(resamples=20))["micro-F1"].value == 1.0
