"""Questions that a snapshot can answer, to begin with: bundled ones that it knows, else some of its own statements.

One of each kind of answer, and some in other languages, as far as the snapshot has ladders for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain, islice

from abstraction.evidence import literal
from abstraction.files.records import read_lines
from abstraction.relations import table
from abstraction.rows import QARow, question_rows
from granola.service.work.snapshot_session import SnapshotSession
from kg.model import Entity
from kg.terms import best_text
from kg.walks.ranks import current

TRIED = 120
SCANNED = 2_000
KINDS = ("place", "person", "date", "work", "amount", "occupation")  # in the order of the page
_KIND_OF = {
    "place": "place", "country": "place", "person": "person", "agent": "person", "owner": "person", "date": "date",
    "work": "work", "quantity": "amount", "occupation": "occupation",
}  # fmt: skip
TEMPLATES = {
    "P19": "Where was {} born?",
    "P26": "Who is {} married to?",
    "P50": "Who is the author of {}?",
    "P569": "When was {} born?",
    "P800": "What is {} famous for?",
    "P1082": "What is the population of {}?",
    "P106": "What is the occupation of {}?",
    "P36": "What is the capital of {}?",
    "P159": "Where is the headquarters of {}?",
    "P131": "Where is {} located?",
}
LANGUAGES = {
    "de": ("German", {"P19": "Wo wurde {} geboren?", "P20": "Wo starb {}?"}),
    "fr": ("French", {"P19": "Où est né {} ?", "P20": "Où est mort {} ?"}),
    "es": ("Spanish", {"P19": "¿Dónde nació {}?", "P20": "¿Dónde murió {}?"}),
}
IN_LANGUAGES = 3  # examples that are not in English


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its answer, the kind of that, and the language."""

    question: str
    answer: str
    kind: str
    language: str = "en"


def examples(holding: SnapshotSession) -> tuple[Example, ...]:
    """Questions whose answers have ladders: one of each kind in KINDS, then at most three in other languages."""
    maker = holding.maker()
    example_of: dict[str, Example] = {}
    for row in islice(chain(_bundled(holding), _stated(holding, "en", TEMPLATES)), TRIED):
        kind = _kind(row)
        if kind is not None and kind not in example_of and len(maker.make(_as_asked(row)).levels) > 2:
            example_of[kind] = Example(row.question, row.answers[0], kind)
        if len(example_of) == len(KINDS):
            break
    return (*(example_of[kind] for kind in KINDS if kind in example_of), *islice(_in_languages(holding), IN_LANGUAGES))


def _as_asked(row: QARow) -> QARow:
    """The question and one answer alone, as the page sends them."""
    return QARow(id="1", question=row.question, answers=row.answers[:1], answer_qids=(None,))


def _kind(row: QARow) -> str | None:
    relation = table().get(row.relation or "")
    return _KIND_OF.get(relation.asks) if relation else None


def _bundled(holding: SnapshotSession) -> list[QARow]:
    """The demo's questions about entities that the snapshot has, and its answers where they are names."""
    data = files("granola").joinpath("demo/questions.jsonl").read_bytes()
    rows = [row for row in question_rows(read_lines(data.splitlines(), "examples")) if isinstance(row, QARow)]
    known = holding.store.find([name for row in rows for name in (row.answers[0], row.subject_text) if name])
    return [
        row
        for row in rows
        if row.subject_text in known and (row.answers[0] in known or _kind(row) in ("date", "amount"))
    ]


def _in_languages(holding: SnapshotSession) -> Iterator[Example]:
    """One example for each language that the snapshot has names in."""
    for code, (name, templates) in LANGUAGES.items():
        if not holding.speaks(code):
            continue
        maker = holding.maker(code)
        for row in islice(_stated(holding, code, templates), TRIED // 4):
            if len(maker.make(_as_asked(row)).levels) > 2:
                yield Example(row.question, row.answers[0], name, code)
                break


def _stated(holding: SnapshotSession, code: str, templates: dict[str, str]) -> Iterator[QARow]:
    """Questions made of statements of the snapshot's first entities, where both have names in the language."""
    ids = list(islice((i for i in holding.store.ids() if i.startswith("Q")), SCANNED))
    for start in range(0, len(ids), 500):
        entities = holding.store.entities(ids[start : start + 500], properties=tuple(templates))
        targets = {s.target for entity in entities.values() for s in entity.statements if s.target}
        named = holding.store.entities(sorted(targets), properties=())
        for entity in entities.values():
            name = _name(entity, code)
            for statement in current(entity.statements) if name else ():
                target = named.get(statement.target or "")
                answer = _name(target, code) if target else literal(statement)
                if answer:
                    yield QARow(
                        id=statement.id,
                        question=templates[statement.property].format(name),
                        answers=(answer,),
                        answer_qids=(None,),
                        relation=statement.property,
                        subject_text=name,
                        subject_qid=entity.id,
                    )


def _name(entity: Entity, code: str) -> str | None:
    """The label in the language itself; in English also what stands for it."""
    if code != "en":
        return entity.labels.get(code)
    found = best_text(entity.labels, code)
    return found[0] if found else None
