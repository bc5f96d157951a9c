"""Write what the code makes of the real data, so that two states of the code can be compared with `diff -r`.

    python scripts/record_outputs.py SNAPSHOT FOLDER [--data ../shared/data] [--each N]

A refactoring leaves every file as it was (`--exclude '*.run.json'`: those tell when). In FOLDER:

ladders/     one tiered row a line, of the first N answers a relation of EntityQuestions (test), of GRANOLA-EQ, of
             SimpleQuestions and of the open questions; in German, French and Spanish of N / 10 of the first
audits/      what the audit says of each tier: of GRANOLA-EQ's own levels, of the 500 judged tiers, of our own ladders;
             and what replaying our own evidence says
phrasing/    what the checker of a model's texts says of GRANOLA-EQ's levels
matching/    the verdict of `rules` on each judged answer, and of answers on their ladders
decoding/    what drag-graph and self-consistency make of the samples of `decoding_probes.jsonl` and of EVOUNA's systems
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

from abstraction.phrasing.checking import LadderCheck
from abstraction.pipeline import LadderMaker
from abstraction.rows import QARow, TieredRow, read_questions, read_tiered
from abstraction.tiers import Level, Tier
from abstraction.verifying.entailment import EntailmentChecker
from abstraction.verifying.tier_verdicts import Judge
from granola.matching.registry import matcher
from granola.runs.decoding.aggregate_run import AggregateRun
from kg.store import open_store
from kg.store.protocol import Store

HERE = Path(__file__).resolve().parents[1]
DATA = HERE.parent / "shared" / "data"
OPEN = ("nq_open_dev.jsonl", "webquestions.jsonl", "mintaka.jsonl", "simpleqa.csv", "crag.jsonl")
LANGUAGES = ("de", "fr", "es")


def write(path: Path, rows: Iterable[Any]) -> None:
    """One JSON value a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, sort_keys=True, default=str) + "\n")


def questions(data: Path, each: int) -> Iterator[tuple[str, list[QARow]]]:
    """The rows of every set of questions, under the set's name."""
    for path in sorted((data / "entityquestions" / "test").glob("*.json")):
        rows = islice(read_questions([path]), each)
        yield path.name.split(".")[0], [replace(r, answers=r.answers[:1], answer_qids=r.answer_qids[:1]) for r in rows]
    for name in ("rows_dev", "places_dev"):
        yield name, list(read_questions([data / "granola_eq" / f"{name}.jsonl"]))
    for name in OPEN:
        yield name.split(".")[0], list(read_questions([data / "open_qa" / name]))
    yield "simplequestions", list(simple_questions(data))


def simple_questions(data: Path) -> Iterator[QARow]:
    """SimpleQuestions with its ids: subject, property, object, question."""
    with gzip.open(data / "simplequestions" / "test_answerable.tsv.gz", "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            subject, relation, answer, question = line.rstrip("\n").split("\t")
            if relation.startswith("P"):
                yield QARow(id=f"simple-{number}", question=question, answers=(answer,), answer_qids=(answer,),
                            relation=relation, subject_qid=subject)  # fmt: skip


def judged_tiers(data: Path) -> Iterator[TieredRow]:
    """The 500 tiers that were read one by one, each alone above its answer."""
    with (data / "tiers_judged" / "judged_500.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            answers = tuple(line["answer"].split(" / "))
            levels = (Level(tiers=tuple(Tier(text=text) for text in answers)), Level(tiers=(Tier(text=line["tier"]),)))
            yield TieredRow(
                id=line["item"], question=line["question"], answers=answers, levels=levels, relation=line["relation"]
            )


def reference_rows(data: Path) -> list[TieredRow]:
    """GRANOLA-EQ's rows with the levels that they came with."""
    files = [data / "granola_eq" / f"{name}.jsonl" for name in ("rows_dev", "places_dev")]
    return [row for path in files for row in read_tiered(path, on_reject=lambda row: None)]


def record_ladders(store: Store, data: Path, out: Path, each: int) -> list[TieredRow]:
    """Ladders of all sets; returned are the first of each."""
    maker, made = LadderMaker(store), []
    sets = list(questions(data, each))
    for name, rows in sets:
        ladders = list(maker.make_all(rows))
        write(out / "ladders" / f"{name}.jsonl", (row.to_json() for row in ladders))
        made += ladders[: max(1, each // 2)]
    for language in LANGUAGES:
        maker = LadderMaker(store, language=language)
        rows = [replace(row, id=f"{name}-{row.id}") for name, part in sets for row in part[: max(1, each // 10)]]
        write(out / "ladders" / f"{language}.jsonl", (row.to_json() for row in maker.make_all(rows)))
    return made


def record_audits(store: Store, data: Path, out: Path, made: list[TieredRow]) -> None:
    """Verdicts on tiers, and the replay of evidence."""
    judge, checker, references = Judge(store), EntailmentChecker(store), reference_rows(data)
    for name, rows in (("reference", references), ("judged", list(judged_tiers(data))), ("own", made)):
        write(out / "audits" / f"{name}.jsonl", (asdict(judge.judge(row)) for row in rows))
    write(out / "audits" / "evidence.jsonl", ([asdict(one) for one in checker.check(row)] for row in made))
    check = LadderCheck(store)
    texts = ((row, [tier.text for level in row.levels[1:] for tier in level.tiers]) for row in references)
    bare = ((replace(row, levels=row.levels[:1]), said) for row, said in texts)
    checked = (asdict(check.check(row, said, call="recorded")) for row, said in bare)
    write(out / "phrasing" / "reference.jsonl", checked)


def record_matching(data: Path, out: Path) -> None:
    """Verdicts on answers that people judged."""
    rules = matcher("rules")
    with gzip.open(data / "evouna" / "nq_dev.jsonl.gz", "rt", encoding="utf-8") as file:
        nq = [json.loads(line) for line in file]
    text = (data / "openqa_eval" / "judgements.jsonl").read_text(encoding="utf-8")
    openqa = [json.loads(line) for line in text.splitlines()]
    for name, rows in (("nq", nq), ("openqa", openqa)):
        write(out / "matching" / f"{name}.jsonl",
              (asdict(rules.match(row["prediction"], [row["answers"]], row["question"])) for row in rows))  # fmt: skip
    by_id = {row["id"]: row for row in nq}
    text = (HERE / "docs" / "evaluation" / "answers-judged.jsonl").read_text(encoding="utf-8")
    ladders = [json.loads(line) for line in text.splitlines()[1:]]

    def verdicts() -> Iterator[Any]:
        for line in ladders:
            row = by_id[line["id"]]
            levels = [row["answers"], *([name for tier in level for name in tier] for level in line["coarser"])]
            yield asdict(rules.match(row["prediction"], levels, row["question"]))

    write(out / "matching" / "ladders.jsonl", verdicts())


def record_decoding(snapshot: Path, data: Path, out: Path) -> None:
    """Answers aggregated from samples: made-up ones, and those of five systems to the same questions."""
    answers: dict[str, dict[str, Any]] = {}
    with gzip.open(data / "evouna" / "nq_dev.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in map(json.loads, file):
            row = answers.setdefault(
                line["question"], {"id": f"nq-{len(answers)}", "question": line["question"], "samples": []}
            )
            row["samples"].append(line["prediction"])
    folder = out / "decoding"
    write(folder / "samples.jsonl", answers.values())
    for name, path in (("probes", data / "decoding_probes.jsonl"), ("systems", folder / "samples.jsonl")):
        for method in ("drag-graph", "self-consistency"):
            AggregateRun(
                samples=str(path), snapshot=str(snapshot), method=method, out=folder / f"{name}-{method}.jsonl"
            ).run()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshot", type=Path, help="a snapshot of wikidata/entities.json.gz")
    parser.add_argument("folder", type=Path, help="where to write; a new folder")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the public data sets")
    parser.add_argument("--each", type=int, default=250, help="answers of each relation of EntityQuestions")
    given = parser.parse_args()
    given.folder.mkdir(parents=True)
    with open_store(str(given.snapshot)) as store:
        made = record_ladders(store, given.data, given.folder, given.each)
        record_audits(store, given.data, given.folder, made)
    record_matching(given.data, given.folder)
    record_decoding(given.snapshot, given.data, given.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
