"""A check of the decoding machinery: simulated respondents over the 76 K sample, each method scored with intervals.

    python scripts/simulate_decoding.py [--data ../shared/data] [--snapshot FILE] [--per-relation 100] [--samples 10]

A respondent knows the answer to a question with probability p; else the level above it with probability p, and so on.
Each response names what it knows: the answer, or else a random answer of the relation from that tier, as a model does
that is asked for an exact answer. With probability `slip` a response knows one level less. What comes out says that
aggregating works as it should where responses err in this way; it says nothing about any real model.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from abstraction.pipeline import LadderMaker
from abstraction.rows import TieredRow, read_questions
from granola.decoding import Aggregator, Counting, DragGraph, SampleRow, SelfConsistency
from granola.decoding.response_aggregation import Method
from granola.matching import matcher
from granola.scoring.bootstrap import percentile_interval
from granola.scoring.predictions import Prediction, PredictionFile
from granola.scoring.scores import ScoreReport, ScoreSettings, score
from kg.building import snapshot
from kg.store import open_store

ROOT = Path(__file__).resolve().parents[1]
FORMS = ("{}", "{}", "{}", "{}.", "Answer: {}", "Location: Location: {}", '"{}"')
FEWEST = 3  # answers that a tier must have here for a respondent to guess among
SHOWN = ("granola_accuracy", "standard_accuracy", "selective_accuracy", "informativeness", "coverage")
METHODS: dict[str, Method | None] = {
    "greedy (the first response)": None,
    "self-consistency, text": SelfConsistency(),
    "self-consistency, alias": SelfConsistency(counting=Counting.ALIAS),
    "drag-graph, support 0.5": DragGraph(support=0.5),
    "drag-graph, support 0.8": DragGraph(support=0.8),
    "drag-graph, support 0.75": DragGraph(support=0.75),
    "drag-graph, support 1": DragGraph(support=1.0),
}
# How the methods are called over which the gain in GRANOLA accuracy is told; they stand first in METHODS.
BASELINES = {"greedy": "greedy (the first response)", "self-consistency": "self-consistency, text"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Respondent:
    """`p`: to know the answer, or else the next level; `slip`: of one response to know one level less."""

    p: float
    slip: float
    seed: int

    def responses(self, row: TieredRow, pool: Mapping[str, Sequence[str]], number: int) -> tuple[str, ...]:
        """What it says, asked so many times; the same each time for the same row."""
        draw = random.Random(f"{self.seed}-{self.p}-{row.id}")
        known = 0
        while known < len(row.levels) and draw.random() >= self.p:
            known += 1
        out = []
        for _ in range(number):
            level = known + (draw.random() < self.slip)
            out.append(draw.choice(FORMS).format(draw.choice(self._among(row, pool, level))))
        return tuple(out)

    def _among(self, row: TieredRow, pool: Mapping[str, Sequence[str]], level: int) -> Sequence[str]:
        if level == 0:
            return row.answers[:1]
        for tiers in row.levels[level:]:
            if len(found := pool[tiers.tiers[0].key]) >= FEWEST:
                return found
        return pool[""]


def ladders(data: Path, path: Path, per_relation: int) -> dict[str, list[TieredRow]]:
    """Questions of EntityQuestions by relation, those whose ladder has more than the answer."""
    out: dict[str, list[TieredRow]] = {}
    with closing(open_store(path)) as store:
        maker = LadderMaker(store)
        for source in sorted((data / "entityquestions" / "test").glob("*.json")):
            asked = list(read_questions([source], limit=per_relation, on_reject=lambda row: None))
            made = [row for row in maker.make_all(asked) if len(row.levels) > 1 and len(row.answers) == 1]
            if made:
                out[made[0].relation or ""] = made
    return out


def predicted(name: str, method: Method | None, rows: Sequence[SampleRow], aggregator: Aggregator) -> PredictionFile:
    """The predictions of one method."""
    single = [replace(row, samples=row.samples[:1]) for row in rows] if method is None else rows
    texts = {row.id: decision.text for row, decision in aggregator.decide(single, method or SelfConsistency())}
    return PredictionFile(name=name, predictions={id_: Prediction(id=id_, text=text) for id_, text in texts.items()})


def gain(report: ScoreReport, other: ScoreReport, resamples: int) -> str:
    """How much more GRANOLA accuracy one has than the other, with a 95 % interval over questions (paired bootstrap)."""
    differences = [
        int(mine.status == "matched") - int(theirs.status == "matched")
        for mine, theirs in zip(report.items, other.items, strict=True)
    ]
    draw = random.Random(0)
    means = [sum(draw.choices(differences, k=len(differences))) / len(differences) for _ in range(resamples)]
    interval = percentile_interval(means)
    return f"{sum(differences) / len(differences):+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"


def main() -> None:
    """Print a table for each p."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--snapshot", type=Path)
    parser.add_argument("--per-relation", type=int, default=100)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--slip", type=float, default=0.05)
    parser.add_argument("--p", type=float, nargs="+", default=[0.3, 0.5, 0.7])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resamples", type=int, default=1000)
    given = parser.parse_args()
    source = given.data / "wikidata" / "entities.json.gz"
    if not source.is_file():
        print(f"not simulated: {source} is not there")
        return
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="granola-simulate-"))
        path = given.snapshot or Path(folder) / "sample.sqlite"
        if given.snapshot is None:
            snapshot.build([source], path)
        by_relation = ladders(given.data, path, given.per_relation)
        tiered = [replace(row, id=f"{prop}/{row.id}") for prop, rows in by_relation.items() for row in rows]
        pools: dict[str, dict[str, list[str]]] = {}
        for prop, rows in by_relation.items():
            pool: dict[str, list[str]] = defaultdict(list)
            for row in rows:
                pool[""].append(row.answers[0])
                for level in row.levels[1:]:
                    for tier in level.tiers:
                        pool[tier.key].append(row.answers[0])
            pools[prop] = defaultdict(list, {key: sorted(set(names)) for key, names in pool.items()})
        print(
            f"{len(tiered):,} questions of {len(by_relation)} relations, {given.samples} responses, slip {given.slip:g}"
        )
        aggregator = Aggregator(stack.enter_context(closing(open_store(path))))
        for p in given.p:
            respondent = Respondent(p=p, slip=given.slip, seed=given.seed)
            samples = [
                SampleRow(
                    id=row.id,
                    question=row.question,
                    samples=respondent.responses(row, pools[row.relation or ""], given.samples),
                    relation=row.relation,
                    subject_text=(row.question_entity or {}).get("text"),
                    subject_qid=(row.question_entity or {}).get("qid"),
                )
                for row in tiered
            ]
            print(f"\np = {p:g}")
            print(
                f"{'':28}"
                + "".join(f"{name:>24}" for name in SHOWN)
                + "".join(f"{'gain on ' + name:>27}" for name in BASELINES)
            )
            baselines: dict[str, ScoreReport] = {}
            for name, method in METHODS.items():
                found = predicted(name, method, samples, aggregator)
                report = score(tiered, found, matcher("rules"), ScoreSettings(resamples=given.resamples))
                if name in BASELINES.values():
                    baselines[name] = report
                cells = "".join(
                    f"{e.value:>9.3f} [{e.interval.low:.3f}, {e.interval.high:.3f}]"[:24].rjust(24)
                    for e in (report.overall.estimates[metric] for metric in SHOWN)
                )
                gains = "".join(f"{gain(report, other, given.resamples):>27}" for other in baselines.values())
                print(f"{name:28}{cells}{gains}", flush=True)


if __name__ == "__main__":
    main()
