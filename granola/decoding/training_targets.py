"""Samples as training data for granularity: to say what one knows, and neither more nor less.

The target of a question is what `DragGraph` decides: the finest tier that enough of the model's own samples support, or
that it does not know. A preference pair sets it against an answer that claims more than the samples support (one that
the model gave), or against one that says less than they do (a coarser tier). No gold answer is looked at: a model
that is sure of something wrong is taught to be sure of it.

Rows are in the conversational forms that TRL reads: prompt and completion for its SFTTrainer; prompt, chosen and
rejected for its DPOTrainer and the other trainers on preferences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from abstraction.models.chat_model import Message
from granola.decoding.claims import Claim, ClaimTally
from granola.decoding.decision import Decision
from granola.decoding.drag_graph import DragGraph, needed
from granola.decoding.samples import SampleRow
from kg.terms import normalise

Fault = Literal["overclaims", "underclaims"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """`chosen` is better than `rejected`, which claims more or less than the samples support."""

    chosen: str
    rejected: str
    fault: Fault


@dataclass(frozen=True, kw_only=True, slots=True)
class Targets:
    """What one question teaches: the `completion` and the pairs, the better supported rejected ones first."""

    decision: Decision
    completion: str
    pairs: tuple[Pair, ...]


def targets(counted: ClaimTally, rule: DragGraph, *, unknown: str, most: int) -> Targets:
    """The target of a question by its tally, with at most `most` pairs of either fault.

    `unknown` is what is said in the place of IDK. Where the samples do not differ there is nothing to prefer. An
    answer is never set against one of the same words, which may name another tier (a city and its state).
    """
    decision = rule.decide(counted)
    completion = unknown if decision.abstains else decision.text
    chosen = next((c for c in counted.claims if (c.text, c.qid) == (decision.text, decision.qid)), None)
    if decision.abstains:
        chosen = None
    finer = counted.claims if chosen is None else counted.claims[: counted.claims.index(chosen)]
    normalised = normalise(completion)
    claimed = sorted((c for c in finer if c.said_by and normalise(c.text) != normalised), key=lambda c: -len(c.said_by))
    pairs = [Pair(chosen=completion, rejected=c.text, fault="overclaims") for c in claimed[:most]]
    if chosen is not None:
        least = needed(
            rule.support, rule.abstaining.counted(responses=counted.responses, abstaining=counted.abstaining)
        )
        coarser = _coarser(chosen, counted.claims, least)
        texts = [text for text in (*(c.text for c in coarser), unknown) if normalise(text) != normalised][:most]
        pairs += [Pair(chosen=completion, rejected=text, fault="underclaims") for text in texts]
    return Targets(decision=decision, completion=completion, pairs=tuple(pairs))


def _coarser(chosen: Claim, claims: Sequence[Claim], least: int) -> Iterator[Claim]:
    """What every supporter of the chosen tier says as well, and is coarser: the finest first."""
    behind = claims[claims.index(chosen) + 1 :]
    return (c for c in behind if c.depth < chosen.depth and c.supporters >= chosen.supporters and c.support >= least)


def supervised_row(row: SampleRow, targets: Targets, prompt: Sequence[Message]) -> dict[str, Any]:
    """A row for supervised fine-tuning."""
    return {"id": row.id, "prompt": _turns(prompt), "completion": _reply(targets.completion), **_support_of(targets)}


def preference_rows(row: SampleRow, targets: Targets, prompt: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """The rows for training on preferences, one for each pair."""
    for pair in targets.pairs:
        yield {
            "id": row.id,
            "prompt": _turns(prompt),
            "chosen": _reply(pair.chosen),
            "rejected": _reply(pair.rejected),
            "fault": pair.fault,
            **_support_of(targets),
        }


def _turns(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def _reply(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]


def _support_of(targets: Targets) -> dict[str, Any]:
    return {} if targets.decision.support is None else {"support": round(targets.decision.support, 4)}
