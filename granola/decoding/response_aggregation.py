"""From rows of samples to predictions, for all methods without a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from abstraction.base.faults import Fault, OnReject, attempt
from abstraction.base.relations import relation
from abstraction.maker.pipeline import LadderMaker
from abstraction.text.questions.question_facts import follows_from_question
from granola.decoding.aggregation_rules import Method, SelfConsistency, tally_by_words
from granola.decoding.claims import Claim, ClaimTally, tally_claims
from granola.decoding.decision import Counting, Decision
from granola.decoding.response_cleaning import clean_response
from granola.decoding.responses import ReadResponse, ResponseReader
from granola.decoding.samples import SampleRow
from granola.decoding.shared_names import is_in_question as repeats
from granola.decoding.shared_names import offers_choice
from kg.store.protocol import Store

CHUNK = 200  # rows per batch of store reads
_STAGE = "aggregation"


class Aggregator:
    """Aggregates the responses to questions with one snapshot; results do not depend on the order of responses."""

    def __init__(
        self, store: Store | None, *, language: str = "en", linker: str = "question", maker: LadderMaker | None = None
    ) -> None:
        """Without a store only words can be counted. `maker`: an existing one for the store, language and linker."""
        self._language = language
        self._maker = maker
        if maker is None and store is not None:
            self._maker = LadderMaker(store, language=language, linker=linker, bits_asked=False)
        self._reader = None if self._maker is None else ResponseReader(self._maker)

    def decide(
        self, rows: Iterable[SampleRow], method: Method, *, on_reject: OnReject | None = None
    ) -> Iterator[tuple[SampleRow, Decision]]:
        """Each row with its decision, in order.

        A row that causes a fault in the program goes to `on_reject`; without it the error is raised.
        """
        for row, outcome in self.decide_each(rows, method):
            if not isinstance(outcome, Fault):
                yield row, outcome
            elif on_reject is not None:
                on_reject(outcome.rejected(source=row.source, id=row.id, text=row.question))
            elif outcome.cause is not None:
                raise outcome.cause

    def decide_each(self, rows: Iterable[SampleRow], method: Method) -> Iterator[tuple[SampleRow, Decision | Fault]]:
        """Each row with its decision, or with the fault that prevented it, in order."""
        by_words = isinstance(method, SelfConsistency) and method.counting is Counting.TEXT
        tallied = ((row, None) for row in rows) if by_words else self.tallies(rows)
        for row, tally in tallied:
            yield row, tally if isinstance(tally, Fault) else attempt(_STAGE, self._decide_row, row, method, tally)

    def _decide_row(self, row: SampleRow, method: Method, tally: ClaimTally | None) -> Decision:
        """The decision for a row; with several systems, also the response of each and whether it supports the answer.
        """
        if tally is None:
            subject, language = row.subject_text, self._language
            cleaned = (clean_response(sample, subject=subject, language=language) for sample in row.samples)
            tally = tally_by_words(list(cleaned), row.weights)
        decision = method.decide(tally)
        if not row.systems:
            return decision
        said = [
            {"system": system, "response": response, "agrees": number in decision.supporters}
            for number, (system, response) in enumerate(zip(row.systems, row.samples, strict=True))
        ]
        agreeing = dict.fromkeys(str(one["system"]) for one in said if one["agrees"])
        explanation = f"{decision.explanation}; agree: {', '.join(agreeing) or 'none'}"
        return replace(decision, explanation=explanation, more={**decision.more, "systems": said})

    def tallies(self, rows: Iterable[SampleRow]) -> Iterator[tuple[SampleRow, ClaimTally | Fault]]:
        """Each row with the claims of its responses, or with the fault that prevented them, in order."""
        if self._reader is None or self._maker is None:
            raise ValueError("responses are linked, which needs a store")
        source = iter(rows)
        while chunk := list(islice(source, CHUNK)):
            # Caches are cleared between chunks, never within one.
            if self._maker.drop_caches_if_full():
                self._discard_caches()
            together = attempt(_STAGE, self._reader.read_responses, chunk)
            if isinstance(together, Fault):  # one row of the batch failed: each is read alone
                self._discard_caches()
            for at, row in enumerate(chunk):
                readings = None if isinstance(together, Fault) else together[at]
                counted = attempt(_STAGE, self._tally_row, row, readings)
                # A fault may leave caches half filled.
                if isinstance(counted, Fault):
                    self._discard_caches()
                yield row, counted

    def _discard_caches(self) -> None:
        """Discard caches, which a failed row may have left incomplete."""
        assert self._maker is not None
        self._maker.drop_derived_caches()
        self._reader = ResponseReader(self._maker)

    def _tally_row(self, row: SampleRow, readings: tuple[ReadResponse, ...] | None) -> ClaimTally:
        assert self._reader is not None
        readings = self._reader.read_responses([row])[0] if readings is None else readings
        own_ladder = self._reader.ladders_for_question(row, readings)
        asked = relation(row.relation) if row.relation else None
        is_choice = offers_choice(row.question, self._language)

        def is_in_question(claim: Claim) -> bool:
            # The answer to "A or B?" is always in the question.
            if is_choice:
                return False
            if claim.stated_by:
                # "Boston" answers where the Boston Celtics play: only the full subject name is no answer.
                subject = row.subject_text or ""
                return repeats(claim.name, subject) and repeats(subject, claim.name)
            if asked is None:
                own = (t for number in sorted(claim.supporters) for level in own_ladder(number) for t in level.tiers)
                if not any(t.qid == claim.qid if claim.qid is not None else t.text == claim.name for t in own):
                    return True  # cached ladders contain tiers that this question gives away
            return repeats(claim.name, row.question) or follows_from_question(
                claim.name, row.question, self._language, relation=asked
            )

        return tally_claims(readings, repeats_question=is_in_question, weights=row.weights)


def answer_row(row: SampleRow, decision: Decision, *, method: str) -> dict[str, Any]:
    """A prediction with its question; gold answers and ladders of the input are omitted."""
    subject = {k: v for k, v in (("qid", row.subject_qid), ("text", row.subject_text)) if v}
    known = {"relation": row.relation, "question_entity": subject or None}
    fields = {name: value for name, value in known.items() if value is not None}
    return prediction_row(replace(row, data=fields), decision, method=method)


def prediction_row(row: SampleRow, decision: Decision, *, method: str) -> dict[str, Any]:
    """The row with its prediction: all fields of the input, replaced by those of the decision where they coincide."""
    head = {"id": row.id, "question": row.question}
    other_fields = {
        key: value for key, value in row.data.items() if key not in ("id", "question", "schema_version", "samples")
    }
    return head | other_fields | {"method": method, **decision.to_json(), "samples": list(row.samples)}
