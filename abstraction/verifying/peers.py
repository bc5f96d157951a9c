"""Names of other things of the answer's kind: another school, another label, a member of the group."""

from __future__ import annotations

from collections.abc import Sequence

from abstraction.linking.gazetteer import PLACES
from abstraction.pipeline import LadderMaker
from abstraction.verifying.answer_facts import AnswerFacts, CaseReader
from abstraction.verifying.comparable_words import content
from abstraction.verifying.verdicts import A_PERSON, ANOTHER_ANSWER, MEMBER

ANOTHER = "the name of another"
_SCHOOLS = "university college school academy institute polytechnic conservatory lyceum gymnasium seminary"
SCHOOLS = frozenset(_SCHOOLS.split())


class Peers:
    """Tells what stands beside the answer from what may stand above it."""

    def __init__(self, cases: CaseReader) -> None:
        self.maker: LadderMaker = cases.maker
        self.graph = cases.graph
        self.near = cases.near

    def beside(self, case: AnswerFacts, linked: Sequence[str]) -> str | None:
        """Another answer to the question, a member of a group that is the answer, or a person for what is none."""
        others = set(self.graph.targets(case.subject, case.asked.id)) if case.subject else set()
        if others & set(linked) - set(case.answers):
            return ANOTHER_ANSWER
        members = {t for a in case.answers for p in ("P527", "P463") for t in self.graph.targets(a, p)}
        members |= {i for i in linked if set(self.graph.targets(i, "P463")) & set(case.answers)}
        if members & set(linked):
            return MEMBER
        persons = bool(linked) and all("person" in self.maker.classes(i) for i in linked)
        return A_PERSON if persons and case.kinds and not case.person and not case.place else None

    def is_another(self, case: AnswerFacts, linked: Sequence[str]) -> bool:
        """Whether the text names an entity of the answer's own kind, unrelated to it."""
        if case.place or not case.kinds:
            return False
        kinds = set().union(*(self.maker.classes(i) for i in linked)) if linked else set()
        telling_kinds = case.kinds - {"organisation"} or case.kinds
        return bool(kinds & telling_kinds) and not kinds & PLACES

    def astray(self, case: AnswerFacts, text: str) -> str | None:
        """Why a name that the snapshot does not put anywhere can hardly be above the answer."""
        if case.place:
            return None
        if case.astray:
            return "stands in line with the name of another"
        if self._is_another_school(case, text):
            return "another school: nothing of its name is said of the answer"
        return None

    def _is_another_school(self, case: AnswerFacts, text: str) -> bool:
        words = content(text)
        if case.asked.asks != "school" or SCHOOLS.isdisjoint(words):
            return False
        known_words = case.words | {word for name in case.names for word in content(name)}
        return bool(words - SCHOOLS) and not (words - SCHOOLS) & known_words
