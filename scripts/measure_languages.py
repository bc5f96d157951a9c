"""Measure other languages on real rows: Mintaka's questions, persons, and citizenships as models answer them (WILA).

    python scripts/measure_languages.py SNAPSHOT [--data ../shared/data] [--codes de,es,fr] [--read 10]

SNAPSHOT is of wikidata/entities2.json.gz with the labels of the languages asked for. Of every second question of
Mintaka and of what is known of persons, where the answers have labels in the language: the rows with a coarser tier in
the language and in English, and tiers told in another language; `--read` prints ladders in both. WILA: answers in the
language that state a citizenship that the graph has, and those in English on the same persons.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from measuring import arguments, percent, rows_of

from abstraction.files.rows import QARow, TieredRow
from abstraction.maker.pipeline import LadderMaker
from granola.matching import in_language, matcher
from granola.replies import read_reply
from kg.graph.graph import Graph
from kg.store import open_store
from kg.store.protocol import Store


def labelled(graph: Graph, ids: Iterable[str]) -> tuple[str, ...] | None:
    """The labels of entities in the graph's language; None where one has none."""
    shown = [graph.shown_label(qid) for qid in ids]
    labels = tuple(found[0] for found in shown if found is not None and found[1] == graph.shown_in)
    return labels if labels and len(labels) == len(shown) else None


def mintaka(data: Path, codes: Sequence[str]) -> Iterator[tuple[list[str], dict[str, QARow]]]:
    """Every second question whose answers are entities: these, and the question in each of the languages."""
    for row in list(rows_of(data / "open_qa" / "mintaka_dev.jsonl.gz"))[::2]:
        if row["answer"]["answerType"] == "entity" and row["answer"]["answer"]:
            ids = [answer["name"] for answer in row["answer"]["answer"]]
            questions = {code: row["question"] if code == "en" else row["translations"].get(code) for code in codes}
            asked = {code: question for code, question in questions.items() if question}
            yield ids, {code: _row(row["id"], question, ids) for code, question in asked.items()}


def persons(data: Path, codes: Sequence[str]) -> Iterator[tuple[list[str], dict[str, QARow]]]:
    """Where persons were born and died, their country and occupation, the relation and the person given."""
    for row in rows_of(data / "wikidata" / "people_9lang.jsonl.gz"):
        for relation in ("P19", "P20", "P27", "P106"):
            ids = row["claims"].get(relation, [])[:1]
            asked = _row(f"{row['id']} {relation}", "?", ids, relation=relation, subject_qid=row["id"])
            yield ids, dict.fromkeys(codes, asked)


def _row(row_id: str, question: str, ids: Sequence[str], **given: Any) -> QARow:
    return QARow(id=row_id, question=question, answers=tuple(ids), answer_qids=(None,) * len(ids), **given)


def breadth(rows: Iterable[tuple[list[str], dict[str, QARow]]], store: Store, code: str) -> dict[str, list[TieredRow]]:
    """The ladders in a language and in English, of the rows whose answers have labels in both."""
    makers = {one: LadderMaker(store, language=one) for one in (code, "en")}
    asked: dict[str, list[QARow]] = {code: [], "en": []}
    for ids, questions in rows:
        answers = {one: labelled(makers[one].graph, ids) for one in (code, "en")}
        for one, labels in answers.items() if all(answers.values()) and code in questions else ():
            asked[one].append(replace(questions[one], answers=labels or ()))
    return {one: list(makers[one].make_all(asked[one])) for one in (code, "en")}


def citizenships(data: Path, code: str) -> None:
    """How many answers state a citizenship, of questions in a language and in English on the same persons."""
    rows = [
        row
        for row in rows_of(data / "answers" / "wila_answers.jsonl.gz")
        if row["property"] == "P27" and row["lang_entity"] == code
    ]
    persons = {one: {row["qid"] for row in rows if row["lang_question"] == one} for one in (code, "en")}
    both = persons[code] & persons["en"]
    for one in (code, "en"):
        rules, right, read = in_language(matcher("rules"), one), 0, 0
        for row in rows:
            if row["qid"] in both and row["lang_question"] == one:
                for text in filter(None, row["answers"].values()):
                    verdict = rules.match(read_reply(text).answer, [row["gold"]], row["question"])
                    right, read = right + (verdict.level is not None), read + 1
        if both:
            print(f"WILA {code}, asked in {one}: {percent(right, read)} of {read} answers on {len(both)} persons right")


def main() -> None:
    parser = arguments(__doc__, snapshot=True)
    parser.add_argument("--codes", default="de,es,fr,it,pl,ru,zh", help="languages, with commas between them")
    parser.add_argument("--read", type=int, default=0, help="print this many ladders of each language")
    given = parser.parse_args()
    store = open_store(str(given.snapshot))
    for code in given.codes.split(","):
        for name, rows in (("Mintaka", mintaka), ("persons", persons)):
            made = breadth(rows(given.data, (code, "en")), store, code)
            tiered = {one: [row for row in ladders if len(row.levels) > 1] for one, ladders in made.items()}
            tiers = [tier for row in tiered[code] for level in row.levels[1:] for tier in level.tiers]
            foreign = sum(tier.language is not None for tier in tiers)
            print(
                f"{name} {code}: {len(tiered[code])} of {len(made[code])} rows with a coarser tier, "
                f"{len(tiered['en'])} in English; {foreign} of {len(tiers)} tiers in another language"
            )
            for pair in zip(made[code][: given.read], made["en"], strict=False):
                for ladder in pair:
                    print("  ", ladder.question, "|", " > ".join(level.tiers[0].text for level in ladder.levels))
        citizenships(given.data, code)


if __name__ == "__main__":
    main()
