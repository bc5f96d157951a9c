"""What the library gives in Python: ladders of whole sets of questions, and verdicts on tiers and on answers."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

from measuring import ROOT, relation_files, rows_of
from recording.command_parts import OPEN
from recording.recorder import Recorder

LANGUAGES = ("de", "fr", "es")


def record_ladders(recorder: Recorder) -> None:
    """Ladders of all sets, in English and three languages more; then verdicts on them and on others' tiers."""
    from abstraction.files.rows import read_tiered
    from abstraction.maker.pipeline import LadderMaker
    from abstraction.phrasing.checking import LadderCheck
    from abstraction.verifying.entailment import EntailmentChecker
    from abstraction.verifying.tier_verdicts import Judge
    from kg.store import open_store

    with open_store(str(recorder.snapshot)) as store:
        maker, made = LadderMaker(store), []
        sets = list(_questions(recorder.data, recorder.each))
        for name, rows in sets:
            ladders = list(maker.make_all(rows))
            recorder.write(f"ladders/{name}.jsonl", (row.to_json() for row in ladders))
            made += ladders[: max(1, recorder.each // 2)]
        for language in LANGUAGES:
            maker = LadderMaker(store, language=language)
            some = max(1, recorder.each // 10)
            rows = [replace(row, id=f"{name}-{row.id}") for name, part in sets for row in part[:some]]
            recorder.write(f"ladders/{language}.jsonl", (row.to_json() for row in maker.make_all(rows)))
        files = [recorder.data / "granola_eq" / f"{name}.jsonl" for name in ("rows_dev", "places_dev")]
        reference = [row for path in files for row in read_tiered(path, on_reject=lambda row: None)]
        judge, checker, check = Judge(store), EntailmentChecker(store), LadderCheck(store)
        for name, tiered in (("reference", reference), ("judged", _judged_tiers(recorder.data)), ("own", made)):
            recorder.write(f"audits/{name}.jsonl", (asdict(judge.judge(row)) for row in tiered))
        recorder.write("audits/evidence.jsonl", ([asdict(one) for one in checker.check(row)] for row in made))
        texts = ((row, [tier.text for level in row.levels[1:] for tier in level.tiers]) for row in reference)
        bare = ((replace(row, levels=row.levels[:1]), said) for row, said in texts)
        checked = (asdict(check.check(row, said, call="recorded")) for row, said in bare)
        recorder.write("phrasing/reference.jsonl", checked)


def record_answers(recorder: Recorder) -> None:
    """Verdicts on answers that people judged, and the Python face on a few of them."""
    import granola

    rules = granola.matcher("rules")
    nq = list(rows_of(recorder.data / "evouna" / "nq_dev.jsonl.gz"))
    for name, rows in (("nq", nq), ("openqa", rows_of(recorder.data / "openqa_eval" / "judgements.jsonl"))):
        verdicts = (asdict(rules.match(row["prediction"], [row["answers"]], row["question"])) for row in rows)
        recorder.write(f"{name}.jsonl", verdicts)
    by_id = {row["id"]: row for row in nq}

    def on_ladders() -> Iterator[Any]:
        for line in islice(rows_of(ROOT / "docs" / "evaluation" / "answers-judged.jsonl"), 1, None):
            row = by_id[line["id"]]
            levels = [row["answers"], *([name for tier in level for name in tier] for level in line["coarser"])]
            yield asdict(rules.match(row["prediction"], levels, row["question"]))

    recorder.write("ladders.jsonl", on_ladders())
    with granola.snapshot() as sample:
        row = granola.ladder("Where was Barack Obama born?", "Honolulu", sample)
        verdicts = [repr(granola.match(text, row)) for text in ("Honolulu", "somewhere in Hawaii", "Kenya", "No idea.")]
    recorder.write("python.jsonl", [row.to_json(), *verdicts])


def _questions(data: Path, each: int) -> Iterator[tuple[str, list[Any]]]:
    """The rows of every set of questions, under the set's name."""
    from abstraction.files.rows import read_questions

    for relation, path in relation_files(data).items():
        rows = islice(read_questions([path]), each)
        yield relation, [replace(r, answers=r.answers[:1], answer_qids=r.answer_qids[:1]) for r in rows]
    for name in ("rows_dev", "places_dev"):
        yield name, list(read_questions([data / "granola_eq" / f"{name}.jsonl"]))
    for name in OPEN:
        yield name.split(".")[0], list(islice(read_questions([data / "open_qa" / name]), 8 * each))


def _judged_tiers(data: Path) -> Iterator[Any]:
    """The 500 tiers that were read one by one, each alone above its answer."""
    from abstraction.base.tiers import Level, Tier
    from abstraction.files.rows import TieredRow

    with (data / "tiers_judged" / "judged_500.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            answers = tuple(line["answer"].split(" / "))
            levels = (Level(tiers=tuple(Tier(text=text) for text in answers)), Level(tiers=(Tier(text=line["tier"]),)))
            yield TieredRow(
                id=line["item"], question=line["question"], answers=answers, levels=levels, relation=line["relation"]
            )
