"""What the commands write and print: tiers, datasets, scores, decoding, snapshots, three kinds of judged evidence.

A part is what it needs, made of the public data, and its commands, `NAME: WORDS` of `granola WORDS` a line.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from itertools import islice
from typing import Any

from measuring import relation_files, rows_of
from recording.recorder import Recorder

OPEN = ("nq_open_dev.jsonl", "webquestions.jsonl", "mintaka.jsonl", "simpleqa.csv", "crag.jsonl")
GRADES = ("no issues", "minor issues", "major issues")
BAD = """{"id": "1", "question": "Where was Barack Obama born?", "answer": ["Honolulu"]}
{"id": 2
{"id": "3", "answer": ["x"]}
{"id": "4", "question": "?", "answer": []}
[1]
{"id": "1", "question": "Where was Plato born?", "answer": "Athens", "relation": "X"}
"""


def _share(text: str) -> float:
    """A number in [0, 1) that the text decides: verdicts and scores in the place of a model's."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32


def _write_asked(recorder: Recorder, each: int) -> None:
    """Questions of EntityQuestions, so many of each relation."""
    recorder.write("asked.jsonl", (
        {"id": f"{relation}-{number}", "question": row["question"], "answer": row["answers"][:1], "relation": relation}
        for relation, path in relation_files(recorder.data).items()
        for number, row in enumerate(json.loads(path.read_text(encoding="utf-8"))[:each])
    ))  # fmt: skip


def record_tiers(recorder: Recorder) -> None:
    """Tiered files in every format and language, single ladders, audits, and rows that are refused."""
    _write_asked(recorder, max(1, recorder.each // 6))
    (recorder.folder / "bad.jsonl").write_text(BAD, encoding="utf-8")
    recorder.run("""
        making: tiers asked.jsonl --snapshot SNAPSHOT --out tiers.jsonl
        making-csv: tiers asked.jsonl --snapshot SNAPSHOT --limit 100 --out tiers.csv
        making-parquet: tiers asked.jsonl --snapshot SNAPSHOT --limit 100 --out tiers.parquet
        making-eq: tiers asked.jsonl --snapshot SNAPSHOT --limit 100 --out eq.csv --format granola-eq
        making-german: tiers asked.jsonl --snapshot SNAPSHOT --limit 100 --out german.jsonl --language de
        making-smallest: tiers asked.jsonl --snapshot SNAPSHOT --limit 100 --out smallest.jsonl --linker smallest
        making-reviewed: tiers asked.jsonl --snapshot SNAPSHOT --out r.jsonl --min-confidence high --review review.csv
        making-simpleqa: tiers DATA/open_qa/simpleqa.csv --snapshot SNAPSHOT --limit 40 --out simpleqa.jsonl
        making-crag: tiers DATA/open_qa/crag.jsonl --snapshot SNAPSHOT --limit 40 --out crag.jsonl
        making-bad: tiers bad.jsonl --snapshot SNAPSHOT --out of-bad.jsonl
        refused-absent: tiers absent.jsonl --snapshot SNAPSHOT --out refused.jsonl
        refused-review: tiers review.csv --snapshot SNAPSHOT --out refused.jsonl
        ladder: ladder 'Where was Barack Obama born?' Honolulu --snapshot SNAPSHOT
        ladder-json: ladder 'When was Marie Curie born?' 'November 7, 1867' --snapshot SNAPSHOT --json
        ladder-of-work: ladder 'Who wrote Hamlet?' 'William Shakespeare' --snapshot SNAPSHOT
        audit-words: audit tiers.jsonl --snapshot SNAPSHOT --json --out audit-words.jsonl
        audit-evidence: audit tiers.jsonl --snapshot SNAPSHOT --json --out audit-evidence.jsonl --entailment
        audit-table: audit DATA/granola_eq/places_dev.jsonl --snapshot SNAPSHOT
        sheet: sheets draw tiers.jsonl --n 30 --out sheet.jsonl --with-first
    """)


def record_datasets(recorder: Recorder) -> None:
    """Whole dataset folders, of the bundled questions and of real ones."""
    _write_asked(recorder, max(1, recorder.each // 5))
    recorder.run("""
        demo: dataset DEMO/questions.jsonl --snapshot SNAPSHOT --out demo --split test
        asked: dataset asked.jsonl --snapshot SNAPSHOT --out asked --one-answer --without trivial-answers
        table: dataset asked.jsonl --snapshot SNAPSHOT --out table --format parquet --limit 60 --language de
        open: dataset DATA/open_qa/nq_open_dev.jsonl --snapshot SNAPSHOT --out open --limit 200
    """)


def record_scores(recorder: Recorder) -> None:
    """The demo; scores, comparisons and reports of two demo systems and of EVOUNA's five on ladders made here."""
    systems: dict[str, list[dict[str, Any]]] = {}
    asked: dict[str, dict[str, Any]] = {}
    for row in rows_of(recorder.data / "evouna" / "nq_dev.jsonl.gz"):
        known = {"id": f"nq-{len(asked)}", "question": row["question"], "answer": row["answers"], "views": len(asked)}
        question = asked.setdefault(row["question"], known)
        if question["views"] < 5 * recorder.each:
            said = {"id": question["id"], "prediction": row["prediction"], "confidence": _share(row["prediction"])}
            systems.setdefault(row["system"], []).append({**said, "human": float(row["human"] is True)})
    recorder.write("asked.jsonl", islice(asked.values(), 5 * recorder.each))
    for name, rows in systems.items():
        recorder.write(f"{name}.jsonl", rows)
    recorder.run("""
        demo: demo --out demo
        guessing: aggregate demo/tiers.jsonl --out guesses.jsonl --method guess
        making: tiers asked.jsonl --snapshot SNAPSHOT --out tiers.jsonl
    """)
    bundled = [f"DEMO/predictions-{name}.jsonl" for name in ("specific", "cautious")]
    real = [f"{name}.jsonl" for name in sorted(systems)]
    for name, tiers, predicted, options, views, colour in (
        ("bundled", "demo/tiers.jsonl", bundled, "", "", ""),
        ("real", "tiers.jsonl", real, "--allow-missing", "--popularity views", "--colour human"),
    ):
        by = f"{tiers} {' '.join(predicted)} {options} {views} --by levels --by relation"
        for number, system in enumerate(predicted):
            recorder.run(f"{name}-{number}: score {tiers} {system} {options} --json --out items-{name}-{number}.jsonl")
        recorder.run(f"""
            {name}-rules: score {tiers} {predicted[0]} {options}
            {name}-f1: score {tiers} {predicted[0]} {options} --matcher f1
            {name}-aliases: score {tiers} {predicted[0]} {options} --matcher f1:0.5 --standard aliases
            {name}-em: score {tiers} {predicted[0]} {options} --matcher em
            {name}-gold: score {tiers} {predicted[0]} {options} --standard gold --lambda 1
            {name}-resampled: score {tiers} {predicted[0]} {options} --resamples 300
            {name}-compared: compare {by} --json
            {name}-table: compare {by}
            {name}-reported: report {by} {colour} --out report-{name}
        """)


def record_decoding(recorder: Recorder) -> None:
    """One answer of several samples: made-up ones, the bundled ones, and those of five systems to one question."""
    answers: dict[str, dict[str, Any]] = {}
    for line in rows_of(recorder.data / "evouna" / "nq_dev.jsonl.gz"):
        known: dict[str, Any] = {"id": f"nq-{len(answers)}", "question": line["question"], "samples": []}
        answers.setdefault(line["question"], known)["samples"].append(line["prediction"])
    recorder.write("systems.jsonl", islice(answers.values(), 4 * recorder.each))
    for name, path in (
        ("probes", "DATA/decoding_probes.jsonl"), ("systems", "systems.jsonl"), ("bundled", "DEMO/samples.jsonl")
    ):  # fmt: skip
        recorder.run(f"""
            {name}-graph: aggregate {path} --snapshot SNAPSHOT --out {name}-graph.jsonl --method drag-graph
            {name}-text: aggregate {path} --snapshot SNAPSHOT --out {name}-text.jsonl --method self-consistency
        """)
    recorder.run("""
        half: aggregate systems.jsonl --snapshot SNAPSHOT --out half.jsonl --support 0.5 --abstaining against
        ladder: aggregate systems.jsonl --snapshot SNAPSHOT --out l.jsonl --method self-consistency --counting ladder
        alias: aggregate systems.jsonl --snapshot SNAPSHOT --out a.jsonl --method self-consistency --counting alias
    """)


def record_matching(recorder: Recorder) -> None:
    """Verdicts on the answers of public bug reports."""
    recorder.write("cases.jsonl", (
        {**row, "id": f"{path.stem}-{number}"}
        for path in sorted((recorder.data / "cases").glob("*.jsonl"))
        for number, row in enumerate(rows_of(path))
        if "prediction" in row and ("answers" in row or "levels" in row)
    ))  # fmt: skip
    for matcher in ("rules", "f1", "em"):
        recorder.run(f"by-{matcher}: match cases.jsonl --matcher {matcher} --out verdicts-{matcher}.jsonl")


def record_attribution(recorder: Recorder) -> None:
    """A benchmark of attribution from the sample, its audit, and evaluators that need no model."""
    test, mined = "built/data/test.jsonl", "--snapshot SNAPSHOT --mined 640 --seed 0"
    recorder.run(f"""
        building: attribution build {mined} --questions DATA/simplequestions/test_answerable.tsv.gz --json --out built
        building-all: attribution build {mined} --shares all --out all
        audit: attribution audit {test} --json
        training: attribution train built/data/train.jsonl --out trained
        graph: attribution evaluate {test} --evaluator graph=SNAPSHOT --out graph.jsonl --json --facts --people {test}
        words: attribution evaluate {test} --evaluator words=0.6 --out words.jsonl --json --facts
        trained: attribution evaluate {test} --evaluator trained=trained --out trained.jsonl --json
        evaluating-table: attribution evaluate {test} --evaluator words=0.6 --limit 100
    """)


def record_grounding(recorder: Recorder) -> None:
    """Answers from passages judged by words, their scores, figures and a pool, with grades that no model gave."""
    asked: dict[str, dict[str, Any]] = {}
    answered: dict[str, str] = {}
    for row in rows_of(recorder.data / "attribution" / "attributionbench_dev.jsonl.gz"):
        one = asked.setdefault(row["question"], {
            "id": f"q{len(asked)}", "question": row["question"], "passages": [], "reference": row["claim"],
            "tags": {"source": row["src_dataset"], "time_sensitivity": ("static", "changing")[len(asked) % 2]},
        })  # fmt: skip
        label = "ANSWER-THE-QUESTION" if row["attribution_label"] == "attributable" else "IRRELEVANT"
        one["passages"] += [
            {"id": f"p{len(one['passages']) + place}", "text": text[:2000], "label": label, "date": "2020-01-01"}
            for place, text in enumerate(row["references"], 1)
        ]
        answered[one["id"]] = f"{answered.get(one['id'], '')} {row['claim']} [p1]".strip()
    cases = [row for path in sorted((recorder.data / "cases").glob("*-deflections*.jsonl")) for row in rows_of(path)]
    of_cases = [{key: row[key] for key in ("id", "question", "passages")} for row in cases]
    recorder.write("asked.jsonl", [*asked.values(), *of_cases])
    recorder.write("answered.jsonl", ({"id": key, "answer": text} for key, text in answered.items()))
    recorder.write("cases.jsonl", ({"id": row["id"], "answer": row["answer"]} for row in cases))
    recorder.run("""
        described: verdicts asked.jsonl
        judging: grounding judge asked.jsonl --answered answered.jsonl --out judged.jsonl
        judging-cases: grounding judge asked.jsonl --answered cases.jsonl --out judged-cases.jsonl
    """)
    for judge in ("one", "two", "three"):
        recorder.write(f"{judge}.jsonl", (
            {**row, "eligibility": GRADES[int(3 * _share(row["id"] + judge))], "judge": judge}
            for row in rows_of(recorder.folder / "judged.jsonl")
        ))  # fmt: skip
    recorder.run("""
        scored: verdicts one.jsonl --json --by source --by relevant_share
        scored-table: verdicts one.jsonl --by source --by relevant_share --score 'uRAF wide' --rule deflecting=fails
        scored-words: verdicts judged.jsonl --score uF
        in-columns: verdicts one.jsonl --table garage --printed --out garage.csv
        pooled: verdicts one.jsonl two.jsonl three.jsonl --pool --out pooled.jsonl --json
        drawn-5: verdicts one.jsonl --figure garage-5 --out garage-5.svg
        drawn-6: verdicts one.jsonl --figure garage-6 --out garage-6.svg
    """)


def record_knowledge(recorder: Recorder) -> None:
    """Knowledge texts by the scores that need no model; what is made of scores, with numbers in the place of theirs."""
    for name, source in (("texts", "nq_test_random_testset"), ("passages", "nq_ref")):
        with gzip.open(recorder.data / "conner" / f"{source}.txt.gz", "rt", encoding="utf-8", newline="\n") as lines:
            (recorder.folder / f"{name}.txt").write_text("".join(islice(lines, 150)), encoding="utf-8")
    _write_asked(recorder, 3)
    recorder.run("""
        judging: knowledge judge texts.txt --out judged.jsonl --evidence passages.txt --baselines
        judging-graph: knowledge judge texts.txt --out g.jsonl --evidence SNAPSHOT --evidence reference --baselines
        making: tiers asked.jsonl --snapshot SNAPSHOT --out tiers.jsonl
        judging-ladders: knowledge judge tiers.jsonl --baselines --out ladders.jsonl
    """)
    names = ("factuality", "relevance", "coherence_sentence", "coherence_paragraph", "informativeness", "helpfulness",
             "validity")  # fmt: skip
    for system in ("one", "two"):
        recorder.write(f"{system}.jsonl", (
            {**row, "system": system, "views": int(10 ** (5 * _share(row["id"]))),
             "scores": {**row["scores"], **{name: _share(f"{name}{system}{row['id']}") for name in names}}}
            for row in rows_of(recorder.folder / "judged.jsonl")
        ))  # fmt: skip
    recorder.run("""
        choosing: verdicts one.jsonl --best 8/30 --out chosen.jsonl
        weighing: verdicts one.jsonl --best 8 --quality 0.4,0.2,0.2,0.2 --out weighed.jsonl
        rating: sheets draw one.jsonl --out drawn.jsonl --n 20
        correlating: verdicts one.jsonl two.jsonl --correlate --json --resamples 100
        drawing: verdicts one.jsonl two.jsonl --figure conner-2 --out conner-2.svg
    """)


def record_snapshots(recorder: Recorder) -> None:
    """Snapshots built from dumps and RDF: ids, counts, exports as text, and what changed between two."""
    full, sample = "DATA/wikidata/full_entities.ndjson.gz", "DATA/wikidata/entities.json.gz"
    birthplaces = "DATA/entityquestions/test/P19.test.json"
    recorder.run(f"""
        building-few: snapshot build DATA/wikidata/full_entities_sample.ndjson.gz --out few.sqlite
        building-complete: snapshot build {full} --workers 1 --out complete.sqlite
        building-de: snapshot build {full} --languages de,fr --out de.sqlite
        building-head: snapshot build {sample} --limit 3000 --out head.sqlite
        building-selected: snapshot build {sample} --qa {birthplaces} --hops 1 --hub-limit 50 --out selected.sqlite
        building-cities: snapshot build {sample} --instances-of Q515 --hops 1 --no-properties --out cities.sqlite
        building-given: snapshot build {full} --ids Q42,Q64,P17 --out given.sqlite
        info-table: snapshot info few.sqlite
        verifying: snapshot verify complete.sqlite
        exporting-few-nt: snapshot export few.sqlite --format nt --out few.nt
        exporting-few-ttl: snapshot export few.sqlite --format ttl --out few.ttl
        exporting-head-nt: snapshot export head.sqlite --format nt --out head.nt
        exporting-few: snapshot export few.sqlite --format parquet --out few-tables
        exporting-head: snapshot export head.sqlite --format parquet --out head-tables
        building-nt: snapshot build few.nt --from rdf --out nt.sqlite
        building-tables: snapshot build few-tables --from parquet --out tables.sqlite
        building-site: snapshot build DATA/wikidata/Q42.ttl.gz --from rdf --out site.sqlite
        diff: snapshot diff few.sqlite nt.sqlite --json --changes changes.jsonl
        diff-head: snapshot diff head.sqlite selected.sqlite --json
    """)
    for path in sorted(recorder.folder.glob("*.sqlite")):
        recorder.run(f"info-{path.stem}: snapshot info {path.name} --json")
