"""SQuAD's answer normalisation, and the matchers that use it: exact match, and token-F1 against a threshold.

Token-F1 is that of Rajpurkar et al. 2016, section 6.1, as the paper uses it (Yona et al. 2024, Definition 1). The
tokens of each distinct text are cached. A text of letters, digits and blanks alone is normalised without a regular
expression, which is faster: there the expression removes articles exactly where they are whole tokens.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from granola.base.run_record import hash_of_modules
from granola.errors import MatcherError
from granola.matching.matchers import Comparison, Levels, ReplyMatcher, Verdict, signature
from granola.matching.tokens import keeps_marks_and_currency
from granola.replies.refusals import abstention
from kg.base.bounded_cache import TextCaches

SQUAD = TextCaches(characters=6_000_000)
_PUNCTUATION = str.maketrans("", "", string.punctuation)  # as in SQuAD's evaluation script: U.S. becomes us
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_DROPPED = frozenset({"a", "an", "the"})


def normalise(text: str) -> str:
    """Lower case, ASCII punctuation deleted (not replaced), English articles dropped, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


@SQUAD.memoize(1 << 18, size=len)
def tokens(text: str) -> tuple[str, ...]:
    """The normalised text's tokens, in order."""
    raw_tokens = text.lower().translate(_PUNCTUATION).split()
    if "".join(raw_tokens).isalnum():
        return tuple([token for token in raw_tokens if token not in _DROPPED])
    return tuple(normalise(text).split())


def f1(prediction: Sequence[str], gold: Sequence[str]) -> float:
    """Token-F1 of two token multisets, in [0, 1]; where either is empty, 1.0 if both are and 0.0 if not."""
    if not prediction or not gold:
        return float(prediction == gold)  # as the evaluation script of SQuAD 2.0 scores empty answers
    if set(prediction).isdisjoint(gold):
        return 0.0  # the usual case, found faster
    common = sum((Counter(prediction) & Counter(gold)).values())
    return 2 * common / (len(prediction) + len(gold))


def token_f1(prediction: str, gold: str) -> float:
    """Token-F1 of two texts after SQuAD normalisation, in [0, 1]."""
    return f1(tokens(prediction), tokens(gold))


def best_f1(prediction: str, names: Sequence[str]) -> float:
    """The greatest token-F1 with any of the names of a level; 0.0 where there is none."""
    return max((token_f1(prediction, name) for name in names), default=0.0)


@dataclass(frozen=True, kw_only=True)
class EmMatcher(ReplyMatcher):
    """A level matches when the normalised prediction equals one of its normalised names and has the name's marks
    (C++).

    Abstentions are recognised in `language` and in English.
    """

    name: str = "em"
    language: str = "en"

    def signature(self) -> str:
        """`em|replies:cut|v:HASH`; the hash is of the code and the data that it uses."""
        return signature("em", **self.reading_settings, v=hash_of_modules("granola.matching.squad"))

    def match_answer(self, answer: str, levels: Levels, question: str | None = None) -> Verdict:
        """The finest level with an equal name; else an abstention, if the prediction is one; else none."""
        prediction_tokens = tokens(answer)
        for number, names in enumerate(levels, start=1):
            for name in names:
                # articles alone normalise to nothing and match nothing
                if prediction_tokens and prediction_tokens == tokens(name) and keeps_marks_and_currency(answer, name):
                    return Verdict(level=number, rule="em", compared=Comparison(prediction=answer, tier=name))
        if pattern := abstention(answer, self.language):
            return Verdict(level=None, rule=pattern, abstained=True)
        return Verdict(level=None, rule="no-exact-match")


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
            self.name, tau=f">{self.tau:g}", **self.reading_settings, v=hash_of_modules("granola.matching.squad")
        )

    def match_answer(self, answer: str, levels: Levels, question: str | None = None) -> Verdict:
        """The finest level whose best F1 exceeds tau; an abstention is looked for only where none does."""
        prediction_tokens = tokens(answer)
        closest: Comparison | None = None
        best = 0.0
        for number, names in enumerate(levels, start=1):
            for name in names:
                score = f1(prediction_tokens, tokens(name)) if prediction_tokens else 0.0
                if score > best and (self.published or keeps_marks_and_currency(answer, name)):
                    best, closest = score, Comparison(prediction=answer, tier=name)
            if best > self.tau:
                return Verdict(level=number, rule="token-f1", compared=closest, score=best)
        if pattern := abstention(answer, self.language):
            return Verdict(level=None, rule=pattern, abstained=True)
        return Verdict(level=None, rule="below-threshold", compared=closest, score=best)


def published_f1(**settings: Any) -> F1Matcher:
    """The matcher of the paper without regard to marks; settings as those of F1Matcher."""
    return F1Matcher(**settings, name="f1-published", published=True)


def best_f1_of_names_with_same_marks(prediction: str, names: Sequence[str]) -> float:
    """The greatest token-F1 with a name of a level whose marks the prediction has; 0.0 where there is none."""
    return best_f1(prediction, [name for name in names if keeps_marks_and_currency(prediction, name)])
