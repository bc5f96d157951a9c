"""Scores how likely the descriptions of a row are of another entity: GRANOLA-EQ's score for potential error, by a
model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import orjson

from abstraction.errors import ReplyError
from abstraction.files.rows import TieredRow
from abstraction.models.chat_model import ChatModel, Failure, Reply, Request, Sampling, sampling_of
from abstraction.phrasing.forms import read_vote
from abstraction.phrasing.phraser import model_name
from abstraction.phrasing.phrasing_prompts import CONSISTENCY, UNKNOWN, read_prompts, slots_of
from abstraction.phrasing.prompt_files import Prompt, hash_of

SAMPLES = 10  # replies per row


class ConsistencyScorer:
    """Asks a yes/no question with examples, several times at temperature 1 (Yona, Aharoni and Geva 2024, appendix B).

    The score is the share, in [0, 1], of the readable replies that are no; 1 is the worst. A row without descriptions
    has none, nor one where more than half of the replies are neither yes nor no. An
    `abstraction.datasets.building.Scorer`.
    """

    def __init__(
        self, model: ChatModel, *, prompts: Mapping[str, Prompt] | None = None, samples: int = SAMPLES, seed: int = 0
    ) -> None:
        self.model = model
        self._prompts = read_prompts() if prompts is None else prompts
        self._sampling = sampling_of(model, Sampling(n=samples, temperature=1.0, max_tokens=64, seed=seed))

    @property
    def fingerprint(self) -> str:
        """The model, the number of samples, the prompt's hash, and a hash of everything."""
        prompts = hash_of(self._prompts, CONSISTENCY)
        how = self._sampling
        # Settings in the model spec change its replies, so they are part of the fingerprint.
        told = getattr(self.model, "sampling", {})
        parts = [dict(self.model.identity), prompts, how.n, how.seed, *([dict(told)] if told else [])]
        settings = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
        digest = hashlib.sha256(settings).hexdigest()[:8]
        return f"{model_name(self.model.identity)} {how.n} samples prompts:{prompts} {digest}"

    def __call__(self, rows: Sequence[TieredRow], /) -> Sequence[float | Failure | None]:
        """For each row its score, None where it has none, the Failure where the model could not be reached."""
        asked = {at: request for at, row in enumerate(rows) if (request := self._request(row)) is not None}
        scores: list[float | Failure | None] = [None] * len(rows)
        for at, result in zip(asked, self.model.generate(asked.values()), strict=True):
            scores[at] = (
                score_of([completion.text for completion in result.completions])
                if isinstance(result, Reply)
                else result
            )
        return scores

    def _request(self, row: TieredRow) -> Request | None:
        slots = slots_of(row)
        if slots["about_question"] == slots["about_answer"] == UNKNOWN:
            return None
        slots["subject"] = str((row.question_entity or {}).get("text") or UNKNOWN)
        return Request(id=row.id, messages=self._prompts[CONSISTENCY.name].fill(slots), sampling=self._sampling)


def score_of(replies: Sequence[str]) -> float | None:
    """The share of no among the replies that are yes or no; None where those are less than half of all."""
    votes: list[bool] = []
    for reply in replies:
        try:
            votes.append(read_vote(reply))
        except ReplyError:
            continue
    if not votes or 2 * len(votes) < len(replies):
        return None
    return votes.count(False) / len(votes)
