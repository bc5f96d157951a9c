"""A chat model that follows a script, and a small world to phrase ladders of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from abstraction.files.rows import QARow, TieredRow
from abstraction.maker.pipeline import LadderMaker
from abstraction.models.chat_model import Completion, Failure, FailureReason, Reply, Request, Result, Totals
from abstraction.phrasing.checking import NOTE
from abstraction.phrasing.phraser import ModelPhraser
from kg.store.sqlite import SQLiteStore
from tests.worlds import entity, row, store_of

WORLD = (
    entity("Q30", "United States", aliases=["USA"], P31="Q3624078"),
    entity("Q145", "United Kingdom", P31="Q3624078", P1549=["British"]),
    entity("Q771", "Massachusetts", "state of the United States", P31="Q35657", P131="Q30"),
    entity("Q1204", "Illinois", "state of the United States", P31="Q35657", P131="Q30"),
    entity("Q541", "Hampden County", "county in Massachusetts", P31="Q47168", P131="Q771"),
    entity("Q491", "Springfield", "city in Massachusetts", aliases=["Springfield, Mass."], P31="Q515", P131="Q541"),
    entity("Q12", "Ann Works", "company in Springfield", P31="Q4830453", P159="Q491"),
    entity("Q483501", "artist"),
    entity("Q1281618", "sculptor", P279="Q483501"),
    entity("Q36834", "composer"),
    entity("Q77", "Edwina Lee", "British sculptor and composer", aliases=["Edwina Rose Lee"], P31="Q5", P27="Q145",
           P106=["Q1281618", "Q36834"]),
)  # fmt: skip
Answer = Callable[[Request], str | None]


class Scripted:
    """A chat model that asks a function, `None` being no answer; it notes what it was asked."""

    identity: Mapping[str, Any] = {"kind": "scripted", "model": "m"}
    totals = Totals()

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.asked: list[Request] = []

    def generate(self, requests: Iterable[Request]) -> Iterator[Result]:
        for request in requests:
            self.asked.append(request)
            text = self._answer(request)
            if text is None:
                yield Failure(request=request, reason=FailureReason.TIME_LIMIT, message="too slow")
            else:
                done = Completion(text=text, finish_reason="stop")
                yield Reply(request=request, completions=(done,) * request.sampling.n)

    def close(self) -> None:
        pass


def block(*lines: str) -> str:
    return "\n".join(["<answers>", *(f"- {line}" for line in lines), "</answers>"])


PLACE = row("Springfield", "P159", qid="Q491", question="Where is the headquarter of Ann Works?", subject="Ann Works")
PERSON = row("Edwina Lee", "P26", qid="Q77", question="Who is Piers Dixon married to?", subject="Piers Dixon")


def phrased(asked: QARow, *lines: str, store: SQLiteStore | None = None, **how: Any) -> TieredRow:
    store = store or store_of(*WORLD)
    phraser = ModelPhraser(Scripted(lambda _: block(*lines)), store, **how)
    (done,) = phraser([LadderMaker(store).make(asked)])
    return done


def decided(done: TieredRow) -> list[tuple[str, str, int | None]]:
    return [(t["finding"], t["action"], t["level"]) for t in done.extra[NOTE]["tiers"]]
