"""What a chat model takes part in: ladders in its words, verdicts, an answer made of several.

It is asked on threads of its own, each with the snapshot open to check what is written: nobody else waits for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from abstraction.models import ChatModel, open_spec, parse_model_spec
from abstraction.models.prompts import hash_of
from abstraction.phrasing.decisions import shortened
from abstraction.phrasing.phraser import ModelPhraser, model_name
from abstraction.rows import TieredRow
from granola.decoding import Abstaining, SampleRow, answer_prompts, prediction_row
from granola.decoding.methods import Answering
from granola.decoding.model_answers import Answered, Answerer, AnswerSettings
from granola.matching import matcher, model_judge
from granola.matching.model_judge import JudgeMatcher
from granola.scoring.items import names_of
from granola.scoring.metrics import Standard
from granola.service.incoming.problems import HTTPProblem, too_many
from granola.service.service_settings import ServiceSettings
from granola.service.work.snapshot_session import opened_store
from granola.service.work.workroom import Context

PHRASERS_KEPT = 2
TOGETHER = 16  # rows that a model is asked about at a time
_TRIES = 2


def opened_model(settings: ServiceSettings) -> ChatModel:
    """The model that the settings name; where its word says nothing of time, two tries fit into a request's."""
    assert settings.model is not None
    share = max(0.1, (settings.model_seconds - 1) / (_TRIES + 0.2))  # a second for the wait between them
    spec = parse_model_spec(settings.model)
    if spec.kind == "openai":
        spec = replace(spec, settings={"timeout": share, "tries": _TRIES, **spec.settings})
    return open_spec(spec, cache=settings.answers)


@dataclass(frozen=True, kw_only=True, slots=True)
class Phrasing:
    """How ladders are to be phrased: in which words, what becomes of tiers that nothing proves, in which language."""

    mode: Literal["free", "word"]
    unproven: Literal["keep", "drop"]
    language: str


class ModelSession(Context):
    """One thread's view of the model, and of the snapshot that checks it."""

    def __init__(self, settings: ServiceSettings, model: ChatModel) -> None:
        self._model = model
        self._store = opened_store(settings)
        self._phrasers: dict[Phrasing, ModelPhraser] = {}

    def phrased(self, rows: Sequence[TieredRow], how: Phrasing) -> list[TieredRow]:
        """The rows as `granola tiers --phrase` writes them."""
        return [shortened(row) for row in self._phraser(how)(rows)]

    def phrased_by(self, how: Phrasing) -> str:
        """What rows are phrased with, as a header can have it."""
        return _header(self._phraser(how).fingerprint)

    def judge(self, *, tau: float | None, raw: bool) -> JudgeMatcher:
        """The matcher that asks the model. Raises MatcherError for a threshold, which is another's."""
        if tau is not None:
            matcher("judge", tau=tau)
        return JudgeMatcher(model=self._model, prompts=model_judge.read_prompts(), raw=raw)

    def drag(self, row: SampleRow, *, abstaining: str | None, language: str) -> tuple[dict[str, Any], str]:
        """The row with the model's answer of its responses, and what that was made with.

        Raises HTTPProblem where the model gives none.
        """
        prompts = answer_prompts.read_prompts()
        asking = AnswerSettings(method=Answering.DRAG, abstaining=Abstaining(abstaining or "pass"))
        (outcome,) = Answerer(self._model, asking, prompts, language=language).aggregate([row])
        if not isinstance(outcome, Answered):
            raise HTTPProblem(503, "model", f"the model gave no answer ({outcome.reason}); ask again", retry_after=10)
        name = f"{model_name(self._model.identity)} drag prompts:{hash_of(prompts, answer_prompts.DRAG)}"
        return prediction_row(row, outcome.decision, method=Answering.DRAG), _header(name)

    def _phraser(self, how: Phrasing) -> ModelPhraser:
        if how not in self._phrasers:
            if len(self._phrasers) >= PHRASERS_KEPT:
                self._phrasers.clear()
            self._phrasers[how] = ModelPhraser(
                self._model, self._store, mode=how.mode, unproven=how.unproven, language=how.language
            )
        return self._phrasers[how]

    def begin(self, until: float) -> None:
        """See `Context.begin`."""
        self._store.until = until

    def interrupted(self) -> None:
        """See `Context.interrupted`."""
        self._phrasers.clear()

    def close(self) -> None:
        """See `Context.close`."""
        self._store.close()


def judge_ahead(
    asked: JudgeMatcher, pairs: Iterable[tuple[TieredRow, str]], *, most: int, standard: Standard = "aliases"
) -> None:
    """Let the judge have a verdict on each (row, prediction). Raises HTTPProblem for more than `most`, and for none."""
    items = [asked.item(text, names_of(row, standard), row.question) for row, text in pairs]
    check_model_rows(len(items), most)
    if failed := asked.prepare(items):
        why = ", ".join(f"{number} {reason}" for reason, number in sorted(failed.items()))
        detail = f"the judge gave no verdict on some predictions ({why}); ask again"
        raise HTTPProblem(503, "model", detail, retry_after=10)


def check_model_rows(rows: int, most: int) -> None:
    """Raise HTTPProblem for a request that would ask the model too often."""
    if rows > most:
        detail = f"the model is asked about {most:,} rows in one request at most; send several requests"
        raise too_many("too-many-rows", detail, most)


def _header(name: str) -> str:
    return "".join(c if " " <= c <= "~" else "?" for c in name)
