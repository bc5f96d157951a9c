"""What a model takes part in: ladders in its words, verdicts, an answer made of several. Pieces of work, as in `work`.

Each is given a `Relay` and is done again when replies are there: see `granola.service.work.model_threads`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from abstraction.models.prompts import hash_of
from abstraction.phrasing.decisions import shortened
from abstraction.phrasing.phraser import model_name
from abstraction.rows import TieredRow
from granola.decoding import Abstaining, SampleRow, prediction_row
from granola.decoding.answer_prompts import DRAG
from granola.decoding.answer_prompts import read_prompts as decoding_prompts
from granola.decoding.methods import Answering
from granola.decoding.model_answers import Answered, Answerer, AnswerSettings
from granola.matching import matcher
from granola.matching.model_judge import JudgeMatcher
from granola.matching.model_judge import read_prompts as judge_prompts
from granola.scoring.items import names_of
from granola.scoring.metrics import Standard
from granola.service.incoming.problems import HTTPProblem
from granola.service.work.model_threads import ModelThreads, NeedsReplies, Relay, attempt
from granola.service.work.snapshot_pool import Lease
from granola.service.work.snapshot_session import SnapshotSession

_judge_prompts = cache(judge_prompts)
_decoding_prompts = cache(decoding_prompts)


def phrase(
    holding: SnapshotSession, rows: Sequence[TieredRow], relay: Relay, *, language: str, mode: str, unproven: str
) -> list[TieredRow] | NeedsReplies:
    """The rows as `granola tiers --phrase` writes them."""
    phraser = holding.phraser(relay, mode=mode, unproven=unproven, language=language)
    return attempt(lambda: [shortened(row) for row in phraser(rows)])


def judge(relay: Relay, *, tau: float | None) -> JudgeMatcher:
    """The matcher that asks the model. Raises MatcherError for a threshold, which is another's."""
    if tau is not None:
        matcher("judge", tau=tau)
    return JudgeMatcher(model=relay, prompts=_judge_prompts())


def judge_ahead(
    asked: JudgeMatcher, pairs: Iterable[tuple[TieredRow, str]], *, most: int, standard: Standard = "aliases"
) -> None:
    """Let the judge have a verdict on each (row, prediction).

    Raises NeedsReplies until it has, and HTTPProblem for more than `most` and where it gives none.
    """
    items = [
        asked.item(text, names_of(row, standard), row.question)
        for row, text in pairs
    ]
    if len(items) > most:
        raise too_many(most)
    failed = asked.prepare(items)
    if failed:
        why = ", ".join(f"{number} {reason}" for reason, number in sorted(failed.items()))
        raise HTTPProblem(
            503, "model", f"the judge gave no verdict on some predictions ({why}); ask again", retry_after=10
        )


def too_many(most: int) -> HTTPProblem:
    """The refusal of a request that would ask the model too often."""
    return HTTPProblem(
        413, "too-many-rows", f"the model is asked about {most:,} rows in one request at most; send several requests",
        more={"most": most},
    )  # fmt: skip


def drag(row: SampleRow, relay: Relay, *, abstaining: str | None, language: str) -> dict[str, Any]:
    """The row with the model's answer of its responses. Raises NeedsReplies, and HTTPProblem where it gives none."""
    prompts = _decoding_prompts()
    asking = AnswerSettings(method=Answering.DRAG, abstaining=Abstaining(abstaining or "pass"))
    answerer = Answerer(relay, asking, prompts, language=language)
    (outcome,) = answerer.aggregate([row])
    if isinstance(outcome, Answered):
        return prediction_row(row, outcome.decision, method=Answering.DRAG)
    raise HTTPProblem(503, "model", f"the model gave no answer ({outcome.reason}); ask again", retry_after=10)


def drag_name(identity: Mapping[str, Any]) -> str:
    """What DRAG's answer was made with."""
    return f"{model_name(identity)} drag prompts:{hash_of(_decoding_prompts(), DRAG)}"


def header(name: str) -> str:
    """A name as headers can have it."""
    return "".join(c if " " <= c <= "~" else "?" for c in name)


def outcome_of(row: TieredRow) -> str:
    """How a row was phrased, for the figures: `phrased`, or why it keeps the graph's ladder."""
    note = row.extra.get("phrasing")
    return str(note.get("fallback", "phrased")) if isinstance(note, dict) else "phrased"


# Ladders in a model's words, asked for together and checked one by one between other work.


class Phrasing:
    """How the rows of one request are phrased. `name` tells by what, once `begin` has found it out."""

    def __init__(self, models: ModelThreads, *, mode: str, unproven: str, language: str, seconds: float) -> None:
        self._models = models
        self._mode = mode
        self._unproven = unproven
        self._language = language
        self._seconds = seconds
        self.name = ""

    async def begin(self, lease: Lease) -> None:
        """Find out what rows will be phrased with."""
        relay = Relay(self._models.identity)
        settings = {"mode": self._mode, "unproven": self._unproven, "language": self._language}
        self.name = await lease.run(
            lambda holding: holding.phraser(relay, **settings).fingerprint, seconds=self._seconds
        )

    async def rows(self, rows: Sequence[TieredRow], lease: Lease) -> list[TieredRow]:
        """The rows as `granola tiers --phrase` writes them. Raises Problem and ModelError."""
        if not rows:
            return []
        until = self._models.until()
        relay = Relay(self._models.identity)
        phrased = await self._work(rows, lease, relay)
        if not isinstance(phrased, NeedsReplies):
            return phrased
        relay.learn(await self._models.ask(phrased.requests, until))
        out: list[TieredRow] = []
        for row in rows:
            out += await self._models.through(partial(self._work, [row], lease), until, relay)
        return out

    async def _work(self, rows: Sequence[TieredRow], lease: Lease, relay: Relay) -> list[TieredRow] | NeedsReplies:
        def do(holding: SnapshotSession) -> list[TieredRow] | NeedsReplies:
            return phrase(holding, rows, relay, language=self._language, mode=self._mode, unproven=self._unproven)

        return await lease.run(do, seconds=self._seconds)
