"""Exact match after SQuAD normalisation."""

from __future__ import annotations

from dataclasses import dataclass

from granola.base.code_hash import hash_of_modules
from granola.matching import squad
from granola.matching.text.marks import keeps_marks
from granola.matching.verdict import Comparison, Levels, ReplyMatcher, Verdict, signature
from granola.replies.refusals import abstention


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
        return signature("em", **self.reading_settings, v=hash_of_modules("granola.matching.em"))

    def match_answer(self, answer: str, levels: Levels, question: str | None = None) -> Verdict:
        """The finest level with an equal name; else an abstention, if the prediction is one; else none."""
        prediction_tokens = squad.tokens(answer)
        for number, names in enumerate(levels, start=1):
            for name in names:
                # articles alone normalise to nothing and match nothing
                if prediction_tokens and prediction_tokens == squad.tokens(name) and keeps_marks(answer, name):
                    return Verdict(level=number, rule="em", compared=Comparison(prediction=answer, tier=name))
        if pattern := abstention(answer, self.language):
            return Verdict(level=None, rule=pattern, abstained=True)
        return Verdict(level=None, rule="no-exact-match")
