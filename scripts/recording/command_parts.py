"""What the commands write and print: tiers, datasets, scores, decoding, and the three kinds of judged evidence."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from recording.recorder import Recorder, lines, write

OPEN = ("nq_open_dev.jsonl", "webquestions.jsonl", "mintaka.jsonl", "simpleqa.csv", "crag.jsonl")
GRADES = ("no issues", "minor issues", "major issues")


def unpacked(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a packed JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _share(text: str) -> float:
    """A number in [0, 1) that the text decides: verdicts and scores in the place of a model's."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32


def _asked_by_relation(recorder: Recorder, each: int) -> list[dict[str, Any]]:
    """Questions of EntityQuestions, so many of each relation."""
    return [
        {"id": f"{path.name.split('.')[0]}-{number}", "question": row["question"], "answer": row["answers"][:1],
         "relation": path.name.split(".")[0]}
        for path in sorted((recorder.data / "entityquestions" / "test").glob("*.json"))
        for number, row in enumerate(json.loads(path.read_text(encoding="utf-8"))[:each])
    ]  # fmt: skip


def record_tiers(recorder: Recorder) -> None:
    """Tiered files in every format and language, single ladders, audits, and rows that are refused."""
    run, folder, snapshot = recorder.run, recorder.folder, recorder.snapshot
    write(folder / "asked.jsonl", _asked_by_relation(recorder, max(1, recorder.each // 6)))
    run("making", "tiers", "asked.jsonl", "--snapshot", snapshot, "--out", "tiers.jsonl")
    for name, options in (
        ("tiers.csv", ()), ("tiers.parquet", ()), ("eq.csv", ("--format", "granola-eq")),
        ("german.jsonl", ("--language", "de")), ("smallest.jsonl", ("--linker", "smallest")),
        ("reviewed.jsonl", ("--min-confidence", "high", "--review", "review.csv")),
    ):  # fmt: skip
        run(f"making-{name}", "tiers", "asked.jsonl", "--snapshot", snapshot, "--out", name, "--limit", 100, *options)
    for name in ("simpleqa.csv", "crag.jsonl"):
        rows = recorder.data / "open_qa" / name
        run(f"making-{name}", "tiers", rows, "--snapshot", snapshot, "--out", f"open-{name}.jsonl", "--limit", 40)
    (folder / "bad.jsonl").write_text(
        '{"id": "1", "question": "Where was Barack Obama born?", "answer": ["Honolulu"]}\n{"id": 2\n'
        '{"id": "3", "answer": ["x"]}\n{"id": "4", "question": "?", "answer": []}\n[1]\n'
        '{"id": "1", "question": "Where was Plato born?", "answer": "Athens", "relation": "X"}\n',
        encoding="utf-8",
    )
    run("making-bad", "tiers", "bad.jsonl", "--snapshot", snapshot, "--out", "of-bad.jsonl")
    for name in ("absent.jsonl", "review.csv"):
        run(f"refused-{name}", "tiers", name, "--snapshot", snapshot, "--out", "refused.jsonl")
    for number, row in enumerate(islice(lines(recorder.demo / "questions.jsonl"), 0, None, 40)):
        for form in ((), ("--json",)):
            name = f"ladder-{number}{'-json' if form else ''}"
            run(name, "ladder", row["question"], row["answer"][0], "--snapshot", snapshot, *form)
    for name, options in (
        ("words", ()), ("evidence", ("--entailment",)), ("attribution", ("--attribution",)),
    ):  # fmt: skip
        out = ("--out", f"audit-{name}.jsonl", *options)
        run(f"audit-{name}", "audit", "tiers.jsonl", "--snapshot", snapshot, "--json", *out)
    run("audit-table", "audit", recorder.data / "granola_eq" / "places_dev.jsonl", "--snapshot", snapshot)
    run("sheet", "sheets", "draw", "tiers.jsonl", "--n", 30, "--out", "sheet.jsonl", "--with-first")


def record_datasets(recorder: Recorder) -> None:
    """Whole dataset folders, of the bundled questions and of real ones."""
    write(recorder.folder / "asked.jsonl", _asked_by_relation(recorder, max(1, recorder.each // 5)))
    for name, rows, options in (
        ("demo", recorder.demo / "questions.jsonl", ("--split", "test")),
        ("asked", "asked.jsonl", ("--one-answer", "--without", "trivial-answers")),
        ("table", "asked.jsonl", ("--format", "parquet", "--limit", 60, "--language", "de")),
        ("open", recorder.data / "open_qa" / "nq_open_dev.jsonl", ("--limit", 200)),
    ):
        recorder.run(f"building-{name}", "dataset", rows, "--snapshot", recorder.snapshot, "--out", name, *options)


def record_scores(recorder: Recorder) -> None:
    """The demo; scores, comparisons and reports of two demo systems and of EVOUNA's five on ladders made here."""
    run, folder = recorder.run, recorder.folder
    run("demo", "demo", "--out", "demo")
    guessed = ("demo/tiers.jsonl", "--out", "guesses.jsonl")
    _ = run("guessing", "guess", *guessed) or run("guessing", "aggregate", *guessed, "--method", "guess")
    pair = [shutil.copy(recorder.demo / f"predictions-{name}.jsonl", folder) for name in ("specific", "cautious")]
    _score("bundled", recorder, "demo/tiers.jsonl", [Path(one).name for one in pair])
    systems: dict[str, list[dict[str, Any]]] = {}
    asked: dict[str, dict[str, Any]] = {}
    for row in unpacked(recorder.data / "evouna" / "nq_dev.jsonl.gz"):
        known = {"id": f"nq-{len(asked)}", "question": row["question"], "answer": row["answers"], "views": len(asked)}
        question = asked.setdefault(row["question"], known)
        if question["views"] < 5 * recorder.each:
            said = {"id": question["id"], "prediction": row["prediction"], "confidence": _share(row["prediction"])}
            systems.setdefault(row["system"], []).append({**said, "human": float(row["human"] is True)})
    write(folder / "asked.jsonl", islice(asked.values(), 5 * recorder.each))
    run("making", "tiers", "asked.jsonl", "--snapshot", recorder.snapshot, "--out", "tiers.jsonl")
    for name, rows in systems.items():
        write(folder / f"{name}.jsonl", rows)
    _score("real", recorder, "tiers.jsonl", [f"{name}.jsonl" for name in sorted(systems)], "--allow-missing")


def _score(name: str, recorder: Recorder, tiered: str, systems: list[str], *options: str) -> None:
    run = recorder.run
    for system in systems:
        out = f"items-{name}-{Path(system).stem}.jsonl"
        run(f"{name}-{system}", "score", tiered, system, "--json", "--out", out, *options)
    for number, settings in enumerate((
        (), ("--matcher", "f1"), ("--matcher", "f1:0.5", "--standard", "aliases"), ("--matcher", "em"),
        ("--standard", "gold", "--lambda", "1"), ("--resamples", "300"),
    )):  # fmt: skip
        run(f"{name}-settings-{number}", "score", tiered, systems[0], *settings, *options)
    by = ("--by", "levels", "--by", "relation", *(("--popularity", "views") if name == "real" else ()))
    run(f"{name}-compared", "compare", tiered, *systems, "--json", *by, *options)
    run(f"{name}-table", "compare", tiered, *systems, *by, *options)
    more = ("--colour", "human") if name == "real" else ()
    run(f"{name}-reported", "report", tiered, *systems, "--out", f"report-{name}", *by, *more, *options)


def record_decoding(recorder: Recorder) -> None:
    """One answer of several samples: made-up ones, the bundled ones, and those of five systems to one question."""
    answers: dict[str, dict[str, Any]] = {}
    for line in unpacked(recorder.data / "evouna" / "nq_dev.jsonl.gz"):
        known: dict[str, Any] = {"id": f"nq-{len(answers)}", "question": line["question"], "samples": []}
        answers.setdefault(line["question"], known)["samples"].append(line["prediction"])
    write(recorder.folder / "samples.jsonl", islice(answers.values(), 4 * recorder.each))
    sources = {
        "probes": recorder.data / "decoding_probes.jsonl", "systems": "samples.jsonl",
        "bundled": recorder.demo / "samples.jsonl",
    }  # fmt: skip
    methods = (
        ("drag-graph",), ("self-consistency",), ("drag-graph", "--support", "0.5", "--abstaining", "against"),
        ("self-consistency", "--counting", "ladder"), ("self-consistency", "--counting", "alias"),
    )  # fmt: skip
    for name, path in sources.items():
        for number, method in enumerate(methods if name == "systems" else methods[:2]):
            out = f"{name}-{method[0]}-{number}.jsonl"
            recorder.run(f"{name}-{number}", "aggregate", path, "--snapshot", recorder.snapshot, "--out", out,
                         "--method", *method)  # fmt: skip


def record_matching(recorder: Recorder) -> None:
    """Verdicts on the answers of public bug reports."""
    cases = [
        {**row, "id": f"{path.stem}-{number}"}
        for path in sorted((recorder.data / "cases").glob("*.jsonl"))
        for number, row in enumerate(lines(path))
        if "prediction" in row and ("answers" in row or "levels" in row)
    ]
    write(recorder.folder / "cases.jsonl", cases)
    for matcher in ("rules", "f1", "em"):
        out = f"verdicts-{matcher}.jsonl"
        recorder.run(f"by-{matcher}", "match", "cases.jsonl", "--matcher", matcher, "--out", out)


def record_attribution(recorder: Recorder) -> None:
    """A benchmark of attribution from the sample, its audit, and evaluators that need no model."""
    run, snapshot = recorder.run, recorder.snapshot
    questions = recorder.data / "simplequestions" / "test_answerable.tsv.gz"
    mined = ("--mined", 640, "--seed", 0)
    run("building", "attribution", "build", "--snapshot", snapshot, "--out", "built", "--questions", questions, *mined,
        "--json")  # fmt: skip
    shaped = ("--shares", "all", "--answer-edge", "leaves")
    run("building-all", "attribution", "build", "--snapshot", snapshot, "--out", "all", *mined, *shaped)
    train, test = "built/data/train.jsonl", "built/data/test.jsonl"
    run("audit", "attribution", "audit", test, "--json")
    run("training", "attribution", "train", train, "--out", "trained")
    words = (f"graph={snapshot}", "words=0.6", "trained=trained")
    by = [part for word in words for part in ("--evaluator", word)]
    run("evaluating", "attribution", "evaluate", test, *by, "--out", "judged.jsonl", "--json", "--facts",
        "--people", test)  # fmt: skip
    run("evaluating-table", "attribution", "evaluate", test, *by[2:4], "--limit", 100)


def record_grounding(recorder: Recorder) -> None:
    """Answers from passages judged by words, their scores, figures and a pool, with grades that no model gave."""
    run, folder = recorder.run, recorder.folder
    asked: dict[str, dict[str, Any]] = {}
    answered: dict[str, str] = {}
    for row in unpacked(recorder.data / "attribution" / "attributionbench_dev.jsonl.gz"):
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
    cases = [row for name in ("16-deflections", "25-deflections-as-written") for kind in ("give", "holds")
             for row in lines(recorder.data / "cases" / f"{name}.{kind}.jsonl")]  # fmt: skip
    rows = [*asked.values(), *({key: row[key] for key in ("id", "question", "passages")} for row in cases)]
    write(folder / "asked.jsonl", rows)
    write(folder / "answered.jsonl", ({"id": key, "answer": text} for key, text in answered.items()))
    write(folder / "cases.jsonl", ({"id": row["id"], "answer": row["answer"]} for row in cases))
    run("described", "verdicts", "asked.jsonl")
    for name in ("answered", "cases"):
        run(f"judging-{name}", "grounding", "judge", "asked.jsonl", "--answered", f"{name}.jsonl", "--out",
            f"judged-{name}.jsonl")  # fmt: skip
    if not (folder / "judged-answered.jsonl").is_file():
        return
    for judge in ("one", "two", "three"):
        graded = [
            {**row, "eligibility": GRADES[int(3 * _share(row["id"] + judge))], "judge": judge}
            for row in lines(folder / "judged-answered.jsonl")
        ]
        write(folder / f"graded-{judge}.jsonl", graded)
    by = ("--by", "source", "--by", "relevant_share")
    run("scored", "verdicts", "graded-one.jsonl", "--json", *by)
    run("scored-table", "verdicts", "graded-one.jsonl", *by, "--score", "uRAF wide", "--rule", "deflecting=fails")
    run("scored-words", "verdicts", "judged-answered.jsonl", "--score", "uF")
    run("in-columns", "verdicts", "graded-one.jsonl", "--table", "garage", "--printed", "--out", "garage.csv")
    pool = [f"graded-{judge}.jsonl" for judge in ("one", "two", "three")]
    run("pooled", "verdicts", *pool, "--pool", "--out", "pooled.jsonl", "--json")
    for figure in ("garage-5", "garage-6"):
        run(f"drawn-{figure}", "verdicts", "graded-one.jsonl", "--figure", figure, "--out", f"{figure}.svg")


def record_knowledge(recorder: Recorder) -> None:
    """Knowledge texts by the scores that need no model; what is made of scores, with numbers in the place of theirs."""
    run, folder = recorder.run, recorder.folder
    texts = gzip.decompress((recorder.data / "conner" / "nq_test_random_testset.txt.gz").read_bytes()).decode()
    (folder / "texts.txt").write_text("".join(texts.splitlines(keepends=True)[:150]), encoding="utf-8")
    passages = gzip.decompress((recorder.data / "conner" / "nq_ref.txt.gz").read_bytes()).decode()
    (folder / "passages.txt").write_text("".join(passages.splitlines(keepends=True)[:150]), encoding="utf-8")
    run("judging", "knowledge", "judge", "texts.txt", "--out", "judged.jsonl", "--evidence", "passages.txt",
        "--baselines")  # fmt: skip
    run("judging-graph", "knowledge", "judge", "texts.txt", "--out", "graph.jsonl", "--evidence", recorder.snapshot,
        "--baselines", "--evidence", "reference")  # fmt: skip
    if not (folder / "judged.jsonl").is_file():
        return
    names = (
        "factuality",
        "relevance",
        "coherence_sentence",
        "coherence_paragraph",
        "informativeness",
        "helpfulness",
        "validity",
    )
    for system in ("one", "two"):
        write(folder / f"scored-{system}.jsonl", (
            {**row, "system": system, "views": int(10 ** (5 * _share(row["id"]))),
             "scores": {**row["scores"], **{name: _share(f"{name}{system}{row['id']}") for name in names}}}
            for row in lines(folder / "judged.jsonl")
        ))  # fmt: skip
    one, both = "scored-one.jsonl", ("scored-one.jsonl", "scored-two.jsonl")
    run("choosing", "verdicts", one, "--best", "8/30", "--out", "chosen.jsonl")
    run("weighing", "verdicts", one, "--best", 8, "--quality", "0.4,0.2,0.2,0.2", "--out", "weighed.jsonl")
    run("rating", "sheets", "draw", one, "--out", "drawn.jsonl", "--n", 20)
    run("correlating", "verdicts", *both, "--correlate", "--json", "--resamples", 100)
    run("drawing-conner-2", "verdicts", *both, "--figure", "conner-2", "--out", "conner-2.svg")
    write(folder / "asked.jsonl", _asked_by_relation(recorder, 3))
    run("making", "tiers", "asked.jsonl", "--snapshot", recorder.snapshot, "--out", "tiers.jsonl")
    run("judging-ladders", "knowledge", "judge", "tiers.jsonl", "--baselines", "--out", "ladders.jsonl")


def record_snapshots(recorder: Recorder) -> None:
    """Snapshots built from dumps and RDF: ids, counts, exports as text, and what changed between two."""
    run, folder, wikidata = recorder.run, recorder.folder, recorder.data / "wikidata"
    sample, complete = wikidata / "entities.json.gz", wikidata / "full_entities.ndjson.gz"
    birthplaces = recorder.data / "entityquestions" / "test" / "P19.test.json"
    built = {
        "few": (wikidata / "full_entities_sample.ndjson.gz",),
        "complete": (complete, "--workers", 1),
        "complete-de": (complete, "--languages", "de,fr"),
        "head": (sample, "--limit", 3000),
        "selected": (sample, "--qa", birthplaces, "--hops", 1, "--hub-limit", 50),
        "cities": (sample, "--instances-of", "Q515", "--hops", 1, "--no-properties"),
        "given": (complete, "--ids", "Q42,Q64,P17"),
    }
    for name, (source, *options) in built.items():
        run(f"building-{name}", "snapshot", "build", source, "--out", f"{name}.sqlite", *options)
        run(f"info-{name}", "snapshot", "info", f"{name}.sqlite", "--json")
    run("info-table", "snapshot", "info", "few.sqlite")
    run("verifying", "snapshot", "verify", "complete.sqlite")
    for name in ("few", "head"):
        for form in ("nt", "ttl"):
            run(
                f"exporting-{name}-{form}",
                "snapshot",
                "export",
                f"{name}.sqlite",
                "--out",
                f"{name}.{form}",
                "--format",
                form,
            )
        run(
            f"exporting-{name}",
            "snapshot",
            "export",
            f"{name}.sqlite",
            "--out",
            f"{name}-tables",
            "--format",
            "parquet",
        )
    for name, source in (("nt", "few.nt"), ("site", wikidata / "Q42.ttl.gz")):
        run(f"building-{name}", "snapshot", "build", source, "--from", "rdf", "--out", f"{name}.sqlite")
        run(f"info-{name}", "snapshot", "info", f"{name}.sqlite", "--json")
    run("diff", "snapshot", "diff", "few.sqlite", "nt.sqlite", "--json", "--changes", "changes.jsonl")
    run("diff-head", "snapshot", "diff", "head.sqlite", "selected.sqlite", "--json")
    for path in folder.glob("*.nt"):
        path.write_text("".join(sorted(path.read_text(encoding="utf-8").splitlines(keepends=True))), encoding="utf-8")
