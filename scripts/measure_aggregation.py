"""Precision, coverage and bits of one answer of many, by the support that it must have, on public samples.

    python scripts/measure_aggregation.py SNAPSHOT [--data ../shared/data] [--only mintaka-da] [--limit 350]

Five samples of a model to questions of Mintaka in several languages, six models' answers on citizenship (WILA), and
those of six systems to WebQuestionsSP; ladders of the gold answers are made from the snapshot. Printed are how right
each rule is where its surest answers alone count, as many of both, and tables of a set: at each support precision,
coverage and bits a question with 95 % intervals, of each rule; behind them the precision of the majority where it
answers as many questions. Between its points it answers some of those that it answers at the next point as well, drawn
at random. Second are the questions whose gold answer has coarser tiers: without any no coarser answer can be right.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from measuring import arguments, rows_of

from abstraction.files.rows import QARow, TieredRow
from abstraction.maker.pipeline import LadderMaker
from granola.decoding.aggregation_rules import DragGraph, SelfConsistency
from granola.decoding.response_aggregation import Aggregator
from granola.decoding.samples import SampleRow
from granola.decoding.support_curve import SUPPORTS, Outcomes, outcomes_by_support, support_curves
from granola.matching import Matcher, matcher
from granola.scoring.metrics import LAMBDA
from granola.scoring.predictions import Prediction
from granola.scoring.scores import score_item
from kg.store import open_store

SETS = {"mintaka-en": "en", "mintaka-da": "da", "mintaka-fi": "fi", "wila-en": "en", "wila-fr": "fr", "webqsp": "en"}
SHOWN = (0.4, 0.6, 0.75, 1.0)
SHARES = (0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


def asked(folder: Path, name: str, language: str) -> Iterator[tuple[str, str, list[Any], list[str], str | None]]:
    """Id, question, gold answers, responses and relation of each question of a set."""
    if name.startswith("mintaka"):
        for row in rows_of(folder / "mintaka_test_5samples.jsonl.gz"):
            if f"samples_{language}" in row and (question := row.get(f"q_{language}") or row.get("q_da")):
                gold = row[f"gold_{language}"]
                golds = gold if isinstance(gold, list) else [gold]
                yield row["id"], question, golds, row[f"samples_{language}"], None
    elif name.startswith("wila"):
        for row in rows_of(folder / "wila_answers.jsonl.gz"):
            if row["lang_question"] == language:
                said = list(row["answers"].values())
                yield f"{row['qid']}-{row['lang_entity']}", row["question"], row["gold"], said, "P27"
    else:
        for row in rows_of(folder / "webqsp_llm_answers.jsonl.gz"):
            yield str(row["id"]), row["question"], row["gold"], list(row["answers"].values()), None


def main() -> None:
    parser = arguments(__doc__, snapshot=True)
    parser.add_argument("--only", default="", help="the sets whose name begins so")
    parser.add_argument("--limit", type=int, default=350, help="questions of a set, drawn by the hash of their ids")
    given = parser.parse_args()
    for name, language in SETS.items():
        if not name.startswith(given.only):
            continue
        every = sorted(
            asked(given.data / "answers", name, language), key=lambda row: hashlib.md5(row[0].encode()).hexdigest()
        )
        with closing(open_store(given.snapshot)) as store:
            maker = LadderMaker(store, language=language)
            samples, ladders = [], {}
            for id, question, gold, said, relation in every[: given.limit]:
                golds = tuple(str(one) for one in gold if one is not None and str(one).strip())
                texts = tuple(text for text in said if isinstance(text, str))
                if golds and len(texts) > 1:
                    samples.append(SampleRow(id=id, question=question, samples=texts, relation=relation))
                    nothing = (None,) * len(golds)
                    row = QARow(id=id, question=question, answers=golds, answer_qids=nothing, relation=relation)
                    ladders[id] = maker.make(row)
            rules = matcher("rules", language=language)
            aggregator = Aggregator(store, language=language)
            outcomes = outcomes_by_support(samples, ladders, aggregator, rules, on_reject=print)
            for rule in (DragGraph(support=0.6), SelfConsistency()):
                decided = list(aggregator.decide(samples, rule))
                sure = sorted(
                    (-round(decision.confidence or 0.0, 9), judged(ladders[row.id], decision.text, rules))
                    for row, decision in decided if not decision.abstains
                )  # fmt: skip
                print(f"{name}, the surest, {type(rule).__name__}", *surest(sure, len(decided)), sep=" | ")
        ids = [row.id for row in samples]
        told = [at for at, id in enumerate(ids) if len(ladders[id].levels) > 1]
        for of, places in (("all", range(len(ids))), ("with coarser tiers", told)):
            show(name, of, {rule: [every[at] for at in places] for rule, every in outcomes.items()})


def judged(ladder: TieredRow, text: str, rules: Matcher) -> bool:
    verdict = score_item(ladder, Prediction(id=ladder.id, text=text), rules, LAMBDA).verdict
    return verdict is not None and verdict.level is not None


def surest(sure: list[tuple[float, bool]], questions: int) -> Iterator[str]:
    """How right the surest answers are, at shares of the questions; equally sure ones count as their mean."""
    means = {key: np.mean([right for other, right in sure if other == key]) for key in {key for key, _ in sure}}
    right = np.cumsum([means[key] for key, _ in sure])
    for share in SHARES:
        if (many := round(share * questions)) <= len(sure):
            yield f"{share}: {right[many - 1] / many:.3f}"


def show(name: str, of: str, outcomes: dict[str, Outcomes]) -> None:
    """A table a rule."""
    curves = support_curves(outcomes)
    majority = sorted(
        {(0.0, 0.0)}
        | {
            (coverage.value, coverage.value * precision.value)
            for (_, coverage), (_, precision) in zip(
                curves["coverage"]["self-consistency"], curves["precision"]["self-consistency"], strict=True
            )
            if coverage.value
        }
    )
    for rule, of_rule in outcomes.items():
        print(f"\n{name}, {of}, {rule}, {len(of_rule)} questions")
        for at, support in enumerate(SUPPORTS):
            if support in SHOWN:
                values = [lines[rule][at][1] for lines in curves.values()]
                cells = [f"{one.value:.3f} [{one.interval.low:.3f}, {one.interval.high:.3f}]" for one in values]
                coverage = curves["coverage"][rule][at][1].value
                given, right = np.array(majority).T
                like = float(np.interp(coverage, given, right)) / coverage if coverage else float("nan")
                print(f"{support:<5g}", *cells, f"majority {like:.3f}", sep=" | ")


if __name__ == "__main__":
    main()
