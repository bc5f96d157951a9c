"""Exact match after SQuAD normalisation."""

from __future__ import annotations

from dataclasses import dataclass

from granola.code_hash import hash_of_modules
from granola.matching import squad
from granola.matching.abstention import abstention
from granola.matching.verdict import Comparison, Levels, Verdict, signature


@dataclass(frozen=True, kw_only=True, slots=True)
class EmMatcher:
    """A level matches when the normalised prediction equals one of its normalised names.

    `language` is that in which abstentions are recognised, beside English.
    """

    name: str = "em"
    language: str = "en"

    def signature(self) -> str:
        """`em|v:HASH`: it has no settings; the hash is of the code and the data that it uses."""
        return signature("em", v=hash_of_modules("granola.matching.em"))

    def match(self, prediction: str, levels: Levels, question: str | None = None) -> Verdict:
        """The finest level with an equal name; else an abstention, if the prediction is one; else none."""
        prediction_tokens = squad.tokens(prediction)
        for number, names in enumerate(levels, start=1):
            for name in names:
                if prediction_tokens and prediction_tokens == squad.tokens(name):
                    return Verdict(level=number, rule="em", compared=Comparison(prediction=prediction, tier=name))
        if pattern := abstention(prediction, self.language):
            return Verdict(level=None, rule=pattern, abstained=True)
        return Verdict(level=None, rule="no-exact-match")
