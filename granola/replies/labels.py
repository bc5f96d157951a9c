"""Words that models set before an answer with a colon: what the answer is, or what kind of thing it is."""

from __future__ import annotations

import re

_WORDS = re.compile(
    r"(?:the )?(?:(?:final|short|best|correct|my|your|full|likely|predicted|exact|approximate|current) )*"
    r"(?:answers?|ans|a|guess|response|output|result|prediction|solution|conclusion"
    r"|location|place|birth ?place|death ?place|(?:place|date|year|city|country|town|state) of (?:birth|death)"
    r"|birth ?date|city|town|village|country|state|region|province|county|capital|continent|nationality|citizenship"
    r"|headquarters|date|year|month|day|time|century|decade|name|person|author|writer|composer|director|producer"
    r"|performer|artist|creator|founder|owner|actor|actress|singer|spouse|father|mother|child|genre|language"
    r"|occupation|profession|position|religion|school|university|company|organi[sz]ation|publisher|manufacturer"
    r"|record label|label|film|book|song|number|amount|quantity|population|height|length|age)",
    re.IGNORECASE,
)


def is_label(text: str) -> bool:
    """Whether a text is such a label: `Location`, `Final answer`, `Place of birth`."""
    return _WORDS.fullmatch(text.strip()) is not None
