"""Questions that a snapshot can answer, to begin with: bundled ones that it knows, else some of its own statements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice

from abstraction.formats.records import parse_records
from abstraction.rows import QARow, question_rows
from granola.service.snapshot_session import SnapshotSession
from kg.terms import best_text
from kg.walks.ranks import current

MOST = 6
TRIED = 60
SCANNED = 2_000
TEMPLATES = {
    "P19": "Where was {} born?",
    "P36": "What is the capital of {}?",
    "P159": "Where is the headquarters of {}?",
    "P106": "What is the occupation of {}?",
    "P50": "Who is the author of {}?",
    "P131": "Where is {} located?",
}


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its answer."""

    question: str
    answer: str


def examples(holding: SnapshotSession) -> tuple[Example, ...]:
    """At most six questions whose answers have ladders, of different relations as far as there are."""
    maker = holding.maker()
    found: dict[str, list[Example]] = {}
    for row in islice((*_bundled(holding), *_stated(holding)), TRIED):
        of_relation = found.setdefault(row.relation or "", [])
        alone = QARow(id="1", question=row.question, answers=row.answers, answer_qids=(None,))  # as the page asks it
        if len(of_relation) < 2 and len(maker.make(alone).levels) > 2:
            of_relation.append(Example(row.question, row.answers[0]))
        if sum(map(bool, found.values())) >= MOST:
            break
    firsts = [one[0] for one in found.values() if one]
    seconds = [one[1] for one in found.values() if len(one) > 1]
    return tuple((firsts + seconds)[:MOST])


def _bundled(holding: SnapshotSession) -> list[QARow]:
    data = files("granola").joinpath("demo/questions.jsonl").read_bytes()
    rows = [row for row in question_rows(parse_records(data, "examples", most=len(data))) if isinstance(row, QARow)]
    known = holding.store.find([name for row in rows for name in (row.answers[0], row.subject_text) if name])
    return [row for row in rows if row.answers[0] in known and row.subject_text in known]


def _stated(holding: SnapshotSession) -> Iterator[QARow]:
    ids = list(islice((i for i in holding.store.ids() if i.startswith("Q")), SCANNED))
    for start in range(0, len(ids), 500):
        entities = holding.store.entities(ids[start : start + 500], properties=tuple(TEMPLATES))
        targets = {s.target for entity in entities.values() for s in entity.statements if s.target}
        labels = holding.store.entities(sorted(targets), properties=())
        for entity in entities.values():
            name = best_text(entity.labels, "en")
            for statement in current(entity.statements):
                target = labels.get(statement.target or "")
                label = best_text(target.labels, "en") if target else None
                if name and label:
                    yield QARow(
                        id=statement.id,
                        question=TEMPLATES[statement.property].format(name[0]),
                        answers=(label[0],),
                        answer_qids=(None,),
                        relation=statement.property,
                        subject_text=name[0],
                        subject_qid=entity.id,
                    )
