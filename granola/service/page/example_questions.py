"""Questions to begin with: bundled ones that the snapshot has ladders for.

One of each kind of answer, and some in other languages.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from abstraction.files.records import read_lines
from abstraction.relations import table
from abstraction.rows import QARow, question_rows
from granola.service.work.snapshot_session import SnapshotSession

KINDS = ("place", "person", "date", "work", "amount", "occupation")  # in the order of the page
_KIND_OF = {
    "place": "place", "country": "place", "person": "person", "agent": "person", "owner": "person", "date": "date",
    "work": "work", "quantity": "amount", "occupation": "occupation",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its answer, the kind of that, and the language."""

    question: str
    answer: str
    kind: str
    language: str = "en"


IN_LANGUAGES = (
    Example("Wo wurde Albert Einstein geboren?", "Ulm", "German", "de"),
    Example("Où est né Pierre Curie ?", "Paris", "French", "fr"),
    Example("¿Dónde nació Pierre Curie?", "París", "Spanish", "es"),
)


def examples(session: SnapshotSession) -> tuple[Example, ...]:
    """Bundled questions whose answers have ladders: the first of each kind in KINDS, then those in other languages."""
    example_of: dict[str, Example] = {}
    for row in _bundled(session):
        kind = _kind(row)
        if kind is not None and kind not in example_of:
            example = Example(row.question, row.answers[0], kind)
            if _has_ladder(session, example):
                example_of[kind] = example
    others = (one for one in IN_LANGUAGES if session.speaks(one.language) and _has_ladder(session, one))
    return (*(example_of[kind] for kind in KINDS if kind in example_of), *others)


def _has_ladder(session: SnapshotSession, example: Example) -> bool:
    """Whether the question has a ladder of more than two levels, asked as the page asks it."""
    row = QARow(id="1", question=example.question, answers=(example.answer,), answer_qids=(None,))
    return len(session.maker(example.language).make(row).levels) > 2


def _kind(row: QARow) -> str | None:
    relation = table().get(row.relation or "")
    return _KIND_OF.get(relation.asks) if relation else None


def _bundled(session: SnapshotSession) -> list[QARow]:
    """The demo's questions about entities that the snapshot has, and its answers where they are names."""
    data = files("granola").joinpath("demo/questions.jsonl").read_bytes()
    rows = [row for row in question_rows(read_lines(data.splitlines(), "examples")) if isinstance(row, QARow)]
    known = session.store.find([name for row in rows for name in (row.answers[0], row.subject_text) if name])
    return [
        row
        for row in rows
        if row.subject_text in known and (row.answers[0] in known or _kind(row) in ("date", "amount"))
    ]
