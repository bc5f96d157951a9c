"""The page's form: what it was filled in with, as an address and as a request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from urllib.parse import urlencode

from pydantic import ValidationError

from granola.pages.visible_text import visible
from granola.service.incoming.problems import HTTPProblem, problem_of_errors, too_many
from granola.service.incoming.schemas import LadderRequest

MOST_PREDICTIONS = 100
MOST_TEXT = 6_000  # characters of all predictions: addresses that are longer get lost on their way


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What the form was filled in with."""

    question: str = ""
    answer: str = ""
    relation: str = ""
    answer_qid: str = ""
    subject: str = ""
    subject_qid: str = ""
    language: str = "en"
    predictions: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Asked:
        """The fields of an address; others mean nothing. Control characters become signs, which can be seen."""
        known = {field.name for field in fields(cls)}
        given = {
            name: visible(_one_line(text) if name != "predictions" else text.replace("\r\n", "\n"))
            for name, text in query.items()
            if name in known and text.strip()
        }
        if "language" in given:
            given["language"] = given["language"].lower().replace("_", "-")
        return cls(**given)

    def address(self) -> str:
        """The page's address with what was filled in, and nothing else."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return "./" + (f"?{urlencode(given)}" if given else "") + "#ladder"

    def lines(self) -> list[str]:
        """The predictions. Raises HTTPProblem for too many."""
        lines = [line.strip() for line in self.predictions.splitlines() if line.strip()]
        if len(lines) > MOST_PREDICTIONS or len(self.predictions) > MOST_TEXT:
            detail = f"more than {MOST_PREDICTIONS} predictions or {MOST_TEXT:,} characters of them; `granola score` "
            raise too_many("predictions", detail + "takes files of any length", MOST_PREDICTIONS)
        return lines

    def request(self) -> LadderRequest:
        """The request for the ladder. Raises HTTPProblem where a field is not as it must be."""
        if not self.question or not self.answer:
            raise HTTPProblem(422, "request", "give a question and its answer")
        data = {
            "question": self.question,
            "answer": self.answer,
            "relation": self.relation.upper(),
            "answer_qid": self.answer_qid.upper(),
            "question_entity": {"text": self.subject} if self.subject else None,
            "question_entity_qid": self.subject_qid.upper(),
            "language": self.language,
        }
        try:
            return LadderRequest.model_validate({key: value for key, value in data.items() if value})
        except ValidationError as error:
            raise problem_of_errors(error.errors()) from None


def _one_line(text: str) -> str:
    return re.sub(r"[\t\r\n]+", " ", text).strip()
