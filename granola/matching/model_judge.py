"""A chat model as the judge of which level an answer states: an option, never the default.

Its reply must be one of the words that the prompt offers, at most with marks or a label around it. After any other
reply it is asked once more, and then there is no verdict. Requests and replies can be recorded and replayed
(`abstraction.models`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from pathlib import Path

import orjson

from abstraction.errors import ReplyError
from abstraction.models.chat_model import ChatModel, Request, Sampling, sampling_of
from abstraction.phrasing.prompting import Prompt, PromptKind, RequestForm, RequestOutcome, load_prompts, prompts_hash
from granola.base.run_record import hash_of_modules
from granola.errors import MatcherError
from granola.matching.matchers import Comparison, Levels, MatchCase, ReplyMatcher, Verdict, signature
from granola.replies import read_reply, read_verdict

JUDGE = PromptKind(
    name="judge", required=frozenset({"levels", "prediction", "words"}), optional=frozenset({"question"})
)
AGAIN = PromptKind(name="again", required=frozenset(), optional=frozenset({"problem"}))
WRONG, ABSTAINS = "wrong", "abstains"
NO_QUESTION = "not given"
_HASH = 8  # characters of a hash in a signature


def allowed_replies(case: MatchCase) -> tuple[str, ...]:
    """The words that the judge may reply: the numbers of the levels, "wrong" and "abstains"."""
    return (*(str(number) for number in range(1, len(case.levels) + 1)), WRONG, ABSTAINS)


def read_prompts(folder: Path | str | None = None) -> dict[str, Prompt]:
    """The prompts `judge` and `again`: those in `folder` where it has them, else the bundled ones. Raises PromptError.
    """
    with as_file(files("granola") / "matching" / "prompts") as bundled:
        return load_prompts((JUDGE, AGAIN), bundled, folder)


def read_judge_reply(case: MatchCase, reply: str) -> Verdict:
    """The verdict that a reply gives as a word, read by `granola.replies.read_verdict`. Raises ReplyError where it
    gives none.
    """
    word = read_verdict(reply, {word: (word,) for word in allowed_replies(case)})
    if word is None:
        raise ReplyError(f"expected one of {', '.join(allowed_replies(case))}")
    if word in (WRONG, ABSTAINS):
        return Verdict(level=None, rule=f"judge:{word}", abstained=word == ABSTAINS)
    names = case.levels[int(word) - 1]
    compared = Comparison(prediction=case.prediction, tier=names[0]) if names else None
    return Verdict(level=int(word), rule="judge", compared=compared)


LONGEST_REPLY = 1_024  # tokens: judges that think before their word need more than the word


@dataclass(frozen=True, kw_only=True, eq=False)  # a model and a cache have no useful equality
class JudgeMatcher(ReplyMatcher):
    """Asks `model` which level a prediction states. Verdicts are kept, since `score` matches predictions one by one."""

    model: ChatModel
    prompts: Mapping[str, Prompt] = field(default_factory=read_prompts)
    sampling: Sampling = field(default_factory=lambda: Sampling(max_tokens=LONGEST_REPLY))
    name: str = "judge"
    _known: dict[MatchCase, Verdict] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sampling", sampling_of(self.model, self.sampling))  # the dataclass is frozen

    def signature(self) -> str:
        """`judge|model:NAME-HASH|prompt:HASH|temperature:0|replies:cut|v:HASH`.

        The hashes are those of the model's identity, of the prompts, and of the code that asks and reads replies.
        """
        identity = dict(self.model.identity)
        content = orjson.dumps(identity, option=orjson.OPT_SORT_KEYS, default=str)
        called = str(identity.get("model") or identity.get("kind") or "model")
        # `|` and `:` separate the parts of a signature
        called = "".join(c if c.isalnum() or c in "._/-" else "_" for c in called)
        return signature(
            "judge",
            model=f"{called}-{hashlib.sha256(content).hexdigest()[:_HASH]}",
            prompt=prompts_hash(dict(self.prompts))[:_HASH],
            temperature=f"{self.sampling.temperature:g}",
            **self.reading_settings,
            v=hash_of_modules("granola.matching.model_judge"),
        )

    def judge(self, cases: Iterable[MatchCase]) -> Iterator[tuple[MatchCase, RequestOutcome[Verdict]]]:
        """Each case with its verdict, or the reason why it has none, in order; many are asked at a time."""

        def ask(case: MatchCase) -> Request | None:
            slots: dict[str, str | list[str]] = {
                "question": case.question or NO_QUESTION,
                "levels": [f"{number}: {' | '.join(names)}" for number, names in enumerate(case.levels, start=1)],
                "prediction": case.prediction,
                "words": ", ".join(allowed_replies(case)),
            }
            return Request(id="judge", messages=self.prompts[JUDGE.name].fill(slots), sampling=self.sampling)

        asking: RequestForm[MatchCase, Verdict] = RequestForm(
            model=self.model, ask=ask, read=read_judge_reply, again=self.prompts[AGAIN.name]
        )
        for case, outcome in asking.run(cases):
            if outcome.value is not None:
                self._known[case] = outcome.value
            yield case, outcome

    def prepare(self, cases: Iterable[MatchCase]) -> dict[str, int]:
        """Judge cases ahead, so that `match` finds their verdicts; returns the number without one, by reason."""
        failed: dict[str, int] = {}
        for _, outcome in self.judge(dict.fromkeys(cases)):
            if outcome.value is None and outcome.fault is None:  # `match` raises a fault
                failed[outcome.failed] = failed.get(outcome.failed, 0) + 1
        return failed

    def case_of_prediction(self, prediction: str, levels: Levels, question: str | None = None) -> MatchCase:
        """The case for a prediction: the answer in it, or with `raw` the whole output."""
        answer = prediction if self.raw else read_reply(prediction).answer
        return _hashable_case(answer, levels, question)

    def match_answer(self, answer: str, levels: Levels, question: str | None = None) -> Verdict:
        """The verdict of the model, asked once per case. Raises MatcherError where it gives none."""
        case = _hashable_case(answer, levels, question)
        if (known := self._known.get(case)) is not None:
            return known
        outcome = next(self.judge([case]))[1]
        if outcome.fault is not None and outcome.fault.cause is not None:
            raise outcome.fault.cause
        if outcome.value is None:
            why = f"{outcome.failed} {outcome.why}".strip()
            raise MatcherError(f"the judge gave no verdict on {answer[:80]!r}: {why}")
        return outcome.value


def _hashable_case(answer: str, levels: Levels, question: str | None) -> MatchCase:
    """The case with its levels as tuples, so that it can be a key of `_known`; without a language, since a judge reads
    any.
    """
    return MatchCase(prediction=answer, levels=tuple(map(tuple, levels)), question=question)
