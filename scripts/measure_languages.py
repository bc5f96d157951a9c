"""Measure other languages on real rows: Mintaka's questions, and citizenships as six models answer them (WILA).

    python scripts/measure_languages.py SNAPSHOT [--data ../shared/data] [--codes de,es,fr] [--read 10]

SNAPSHOT is of wikidata/entities2.json.gz with the labels of the languages asked for. Mintaka: of every second question
whose answers have a label in the language, the rows with a coarser tier in the language and in English, by the answer's
label alone and with its id; tiers told in another language; `--read` prints ladders of each language. WILA: answers in
the language that state a citizenship that the graph has, and those in English on the same persons.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from measuring import arguments, percent, rows_of

from abstraction.pipeline import LadderMaker
from abstraction.rows import QARow, TieredRow
from granola.matching import in_language, matcher
from granola.replies import read_reply
from kg.store import open_store
from kg.walks.graph import Graph


def labelled(graph: Graph, row: dict[str, Any]) -> list[tuple[str, str]] | None:
    """The answers of a Mintaka row as (id, label in the graph's language); None where one has none or is no entity."""
    given = row["answer"]["answer"]
    if row["answer"]["answerType"] != "entity" or not given:
        return None
    shown = {answer["name"]: graph.shown_label(answer["name"]) for answer in given}
    pairs = [(qid, found[0]) for qid, found in shown.items() if found is not None and found[1] == graph.shown_in]
    return pairs if len(pairs) == len(shown) else None


def mintaka(
    makers: dict[str, LadderMaker], rows: list[dict[str, Any]], code: str, *, by_id: bool
) -> dict[str, list[TieredRow]]:
    """The ladders in a language and in English, of the rows whose answers have labels in both."""
    asked: dict[str, list[QARow]] = defaultdict(list)
    for row in rows:
        answers = {one: labelled(makers[one].graph, row) for one in (code, "en")}
        for one in (code, "en") if all(answers.values()) else ():
            pairs = answers[one] or []
            question = row["question"] if one == "en" else row["translations"][one]
            qids = tuple(qid if by_id else None for qid, _ in pairs)
            texts = tuple(label for _, label in pairs)
            asked[one].append(QARow(id=row["id"], question=question, answers=texts, answer_qids=qids))
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
    even = [row for at, row in enumerate(rows_of(given.data / "open_qa" / "mintaka_dev.jsonl.gz")) if at % 2 == 0]
    for code in given.codes.split(","):
        makers = {one: LadderMaker(store, language=one) for one in (code, "en")}
        for by_id in (False, True):
            made = mintaka(makers, even, code, by_id=by_id)
            tiered = {one: [row for row in ladders if len(row.levels) > 1] for one, ladders in made.items()}
            tiers = [tier for row in tiered[code] for level in row.levels[1:] for tier in level.tiers]
            foreign = sum(tier.language is not None for tier in tiers)
            print(
                f"Mintaka {code}{', by id' if by_id else ''}: {len(tiered[code])} of {len(made[code])} rows with a "
                f"coarser tier, {len(tiered['en'])} in English; {foreign} of {len(tiers)} tiers in another language"
            )
            beside = {row.id: row for row in made["en"]}
        for row in made[code][: given.read]:
            for ladder in (row, beside[row.id]):
                print("  ", ladder.question, "|", " > ".join(level.tiers[0].text for level in ladder.levels))
        citizenships(given.data, code)


if __name__ == "__main__":
    main()
