"""Names in another spelling: `Havewala` for Havewalla, `Amr Moussa` for Amr Mousa."""

from __future__ import annotations

from granola.matching.naming.mentions import AnswerText, Mention
from granola.matching.naming.names import Mentions
from granola.matching.naming.references import Tier, is_description
from granola.matching.text import word_lists
from granola.matching.text.near import ONE, is_near
from granola.matching.text.tokens import MOST

LONGEST = 6  # words of a name; one alone is told by its spelling


def by_spelling(answer: AnswerText, tier: Tier) -> Mentions:
    """The words of a name in their order, one of them or more with a letter or two spelt otherwise.

    Of names that begin with a capital alone, and of words that no other tier has.
    """
    level, name, folded = tier
    if not name[:1].isupper() or not 1 < len(folded) <= LONGEST or is_description(name) or not answer.cased:
        return
    if max(map(len, folded)) < ONE:
        return
    texts = answer.texts
    for start in range(min(len(texts) - len(folded) + 1, MOST)):
        run = texts[start : start + len(folded)]
        if not answer.words[start].capital or not all(map(is_near, run, folded)):
            continue
        if any(own in word_lists.CLASSES and own != said for said, own in zip(run, folded, strict=True)):
            continue
        yield Mention(level, name, start, start + len(folded))
