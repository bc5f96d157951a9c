"""What the library gives in Python: ladders of whole sets of questions, and verdicts on tiers and on answers."""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

from recording.command_parts import OPEN, unpacked
from recording.recorder import Recorder, write

LANGUAGES = ("de", "fr", "es")
_JUDGED = Path(__file__).resolve().parents[2] / "docs" / "evaluation" / "answers-judged.jsonl"


def record_ladders(recorder: Recorder) -> None:
    """Ladders of all sets, in English and three languages more; then verdicts on them and on others' tiers."""
    from abstraction.pipeline import LadderMaker
    from kg.store import open_store

    with open_store(str(recorder.snapshot)) as store:
        maker, made = LadderMaker(store), []
        sets = list(_questions(recorder.data, recorder.each))
        for name, rows in sets:
            ladders = list(maker.make_all(rows))
            write(recorder.folder / "ladders" / f"{name}.jsonl", (row.to_json() for row in ladders))
            made += ladders[: max(1, recorder.each // 2)]
        for language in LANGUAGES:
            maker = LadderMaker(store, language=language)
            some = max(1, recorder.each // 10)
            rows = [replace(row, id=f"{name}-{row.id}") for name, part in sets for row in part[:some]]
            write(recorder.folder / "ladders" / f"{language}.jsonl", (row.to_json() for row in maker.make_all(rows)))
        for record in (_record_verdicts, _record_evidence, _record_checks):
            try:
                record(store, recorder, made)
            except LookupError as error:
                print(f"ladders/{record.__name__[8:]} skipped: no {error}", file=sys.stderr)


def _record_verdicts(store: Any, recorder: Recorder, made: list[Any]) -> None:
    judge = recorder.found("Judge")(store)
    sets = {"reference": _reference_rows(recorder.data), "judged": list(_judged_tiers(recorder.data)), "own": made}
    for name, rows in sets.items():
        write(recorder.folder / "audits" / f"{name}.jsonl", (asdict(judge.judge(row)) for row in rows))


def _record_evidence(store: Any, recorder: Recorder, made: list[Any]) -> None:
    checker = recorder.found("EntailmentChecker")(store)
    write(recorder.folder / "audits" / "evidence.jsonl", ([asdict(one) for one in checker.check(row)] for row in made))


def _record_checks(store: Any, recorder: Recorder, made: list[Any]) -> None:
    check = recorder.found("LadderCheck")(store)
    references = _reference_rows(recorder.data)
    texts = ((row, [tier.text for level in row.levels[1:] for tier in level.tiers]) for row in references)
    bare = ((replace(row, levels=row.levels[:1]), said) for row, said in texts)
    checked = (asdict(check.check(row, said, call="recorded")) for row, said in bare)
    write(recorder.folder / "phrasing" / "reference.jsonl", checked)


def record_answers(recorder: Recorder) -> None:
    """Verdicts on answers that people judged, and the Python face on a few of them."""
    import granola

    rules = granola.matcher("rules")
    nq = list(unpacked(recorder.data / "evouna" / "nq_dev.jsonl.gz"))
    text = (recorder.data / "openqa_eval" / "judgements.jsonl").read_text(encoding="utf-8")
    for name, rows in (("nq", nq), ("openqa", [json.loads(line) for line in text.splitlines()])):
        write(recorder.folder / f"{name}.jsonl",
              (asdict(rules.match(row["prediction"], [row["answers"]], row["question"])) for row in rows))  # fmt: skip
    by_id = {row["id"]: row for row in nq}

    def on_ladders() -> Iterator[Any]:
        for line in map(json.loads, _JUDGED.read_text(encoding="utf-8").splitlines()[1:]):
            row = by_id[line["id"]]
            levels = [row["answers"], *([name for tier in level for name in tier] for level in line["coarser"])]
            yield asdict(rules.match(row["prediction"], levels, row["question"]))

    write(recorder.folder / "ladders.jsonl", on_ladders())
    with granola.snapshot() as sample:
        row = granola.ladder("Where was Barack Obama born?", "Honolulu", sample)
        verdicts = [repr(granola.match(text, row)) for text in ("Honolulu", "somewhere in Hawaii", "Kenya", "No idea.")]
    write(recorder.folder / "python.jsonl", [row.to_json(), *verdicts])


def _questions(data: Path, each: int) -> Iterator[tuple[str, list[Any]]]:
    """The rows of every set of questions, under the set's name."""
    from abstraction.rows import read_questions

    for path in sorted((data / "entityquestions" / "test").glob("*.json")):
        rows = islice(read_questions([path]), each)
        yield path.name.split(".")[0], [replace(r, answers=r.answers[:1], answer_qids=r.answer_qids[:1]) for r in rows]
    for name in ("rows_dev", "places_dev"):
        yield name, list(read_questions([data / "granola_eq" / f"{name}.jsonl"]))
    for name in OPEN:
        yield name.split(".")[0], list(islice(read_questions([data / "open_qa" / name]), 8 * each))
    yield "simplequestions", list(islice(_simple_questions(data), 20 * each))


def _simple_questions(data: Path) -> Iterator[Any]:
    """SimpleQuestions with its ids: subject, property, object, question."""
    from abstraction.rows import QARow

    with gzip.open(data / "simplequestions" / "test_answerable.tsv.gz", "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            subject, relation, answer, question = line.rstrip("\n").split("\t")
            if relation.startswith("P"):
                yield QARow(id=f"simple-{number}", question=question, answers=(answer,), answer_qids=(answer,),
                            relation=relation, subject_qid=subject)  # fmt: skip


def _judged_tiers(data: Path) -> Iterator[Any]:
    """The 500 tiers that were read one by one, each alone above its answer."""
    from abstraction.rows import TieredRow
    from abstraction.tiers import Level, Tier

    with (data / "tiers_judged" / "judged_500.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            answers = tuple(line["answer"].split(" / "))
            levels = (Level(tiers=tuple(Tier(text=text) for text in answers)), Level(tiers=(Tier(text=line["tier"]),)))
            yield TieredRow(
                id=line["item"], question=line["question"], answers=answers, levels=levels, relation=line["relation"]
            )


def _reference_rows(data: Path) -> list[Any]:
    """GRANOLA-EQ's rows with the levels that they came with."""
    from abstraction.rows import read_tiered

    files = [data / "granola_eq" / f"{name}.jsonl" for name in ("rows_dev", "places_dev")]
    return [row for path in files for row in read_tiered(path, on_reject=lambda row: None)]
