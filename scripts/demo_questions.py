"""The demo's questions with two predictions each, read from demo_facts/questions.txt.

One block a question, blocks separated by blank lines:

    P19 Where was Barack Obama born?
      about Q76 Barack Obama
      answer Q18094 Honolulu
      specific He was born in Honolulu, Hawaii.
      cautious Hawaii

`about` names the subject by its QID, or only by text where the first word is no QID; without the line the
row carries no question entity. `answer` lines are given once an answer, with its QID or without; a QID
before a text is checked against the tables' label. The first record carries the schema version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demo_table import Dump, TableError

SCHEMA_VERSION = 1
_NAMED = re.compile(r"(Q[1-9]\d*) (.+)")


@dataclass(kw_only=True)
class Question:
    """One question as written."""

    id: str
    where: str
    relation: str
    question: str
    about: tuple[str, str] | None = None
    answers: list[tuple[str | None, str]] = field(default_factory=list)
    predictions: dict[str, str] = field(default_factory=dict)
    first: bool = False

    def row(self) -> dict[str, Any]:
        """The row in the project's own form."""
        row: dict[str, Any] = {"schema_version": SCHEMA_VERSION} if self.first else {}
        row |= {"id": self.id, "question": self.question, "relation": self.relation}
        if self.about:
            row["question_entity"] = {"qid": self.about[0], "text": self.about[1]}
        row["answer"] = [text for _, text in self.answers]
        qids = [qid for qid, _ in self.answers if qid]
        if qids:
            row["answer_qid"] = qids[0] if len(self.answers) == 1 else qids
        return row

    def prediction(self, system: str) -> dict[str, str]:
        """What a system ("specific" or "cautious") answered."""
        return {"id": self.id, "prediction": self.predictions[system]}


def read_questions(path: Path, dump: Dump) -> list[Question]:
    """The questions in file order. Raises TableError for a bad line or a QID that the tables contradict."""
    questions: list[Question] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{path.name}:{number}"
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if not line.startswith(" "):
            relation, _, question = text.partition(" ")
            identifier = f"demo-{len(questions) + 1:03}"
            questions.append(
                Question(id=identifier, where=where, relation=relation, question=question, first=not questions)
            )
            continue
        key, _, value = text.partition(" ")
        named = _NAMED.fullmatch(value)
        if named and key in ("about", "answer"):
            dump.item(named[1], where)
        if key == "about" and named:
            questions[-1].about = (named[1], named[2])
        elif key == "answer":
            questions[-1].answers.append((named[1], named[2]) if named else (None, value))
        elif key in ("specific", "cautious"):
            questions[-1].predictions[key] = value
        else:
            raise TableError(f"{where}: expected about, answer, specific or cautious, found {text!r}")
    for read in questions:
        if not read.answers or set(read.predictions) != {"specific", "cautious"}:
            raise TableError(f"{read.where}: {read.question!r} needs an answer and both predictions")
        qids = [qid for qid, _ in read.answers if qid]
        if len(qids) not in (0, len(read.answers)):
            raise TableError(f"{read.where}: give QIDs to all answers of {read.question!r} or to none")
    return questions
