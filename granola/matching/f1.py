"""The paper's matcher: SQuAD token-F1 against a threshold (Yona et al. 2024, Definition 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from granola.base.code_hash import hash_of_modules
from granola.errors import MatcherError
from granola.matching import squad
from granola.matching.text.marks import keeps_marks
from granola.matching.verdict import Comparison, Levels, ReplyMatcher, Verdict, signature
from granola.replies.refusals import abstention


@dataclass(frozen=True, kw_only=True)
class F1Matcher(ReplyMatcher):
    """A level matches when the token-F1 with one of its names is above `tau`, in [0, 1); the finest level wins.

    The paper writes "exceeds" and gives no threshold. One of its matches has a token-F1 of 0.40 (Table 9), so its
    threshold was lower; 0.3 reproduces the rows of that table.

    Reliable for answers of up to about three words; in longer ones most tokens are no part of a name. Abstentions are
    recognised in `language` and in English. A name that has marks (C++, 42 %, $5) matches no prediction without them,
    unless `published` asks for F1 as it was published. Raises MatcherError for a `tau` out of range.
    """

    tau: float = 0.3  # token-F1; no value in the paper, see above
    name: str = "f1"
    language: str = "en"
    published: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.tau < 1:
            raise MatcherError(f"tau is {self.tau:g}; allowed: 0 and more, below 1, as in f1:0.3")

    def signature(self) -> str:
        """`f1|tau:>0.3|replies:cut|v:HASH`; the hash is of the code and the data that it uses."""
        return signature(
            self.name, tau=f">{self.tau:g}", **self.reading_settings, v=hash_of_modules("granola.matching.f1")
        )

    def match_answer(self, answer: str, levels: Levels, question: str | None = None) -> Verdict:
        """The finest level whose best F1 exceeds tau; an abstention is looked for only where none does."""
        prediction_tokens = squad.tokens(answer)
        closest: Comparison | None = None
        best = 0.0
        for number, names in enumerate(levels, start=1):
            for name in names:
                score = squad.f1(prediction_tokens, squad.tokens(name)) if prediction_tokens else 0.0
                if score > best and (self.published or keeps_marks(answer, name)):
                    best, closest = score, Comparison(prediction=answer, tier=name)
            if best > self.tau:
                return Verdict(level=number, rule="token-f1", compared=closest, score=best)
        if pattern := abstention(answer, self.language):
            return Verdict(level=None, rule=pattern, abstained=True)
        return Verdict(level=None, rule="below-threshold", compared=closest, score=best)


def published_f1(**settings: Any) -> F1Matcher:
    """The matcher of the paper without regard to marks; settings as those of F1Matcher."""
    return F1Matcher(**settings, name="f1-published", published=True)


def level_f1(prediction: str, names: Sequence[str]) -> float:
    """The greatest token-F1 with a name of a level whose marks the prediction has; 0.0 where there is none."""
    return squad.best_f1(prediction, [name for name in names if keeps_marks(prediction, name)])
