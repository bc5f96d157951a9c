"""What the page says of codes: reasons to abstain, rules of matching and of linking, scores. The words are data."""

from __future__ import annotations

import json

from granola.pages.templates import page_file

_WORDS: dict[str, dict[str, str]] = json.loads(page_file("words.json"))
SCORES, LINKED, ADVICE = (_WORDS[name] for name in ("scores", "linked", "advice"))


def rule_words(rule: str) -> str:
    """What a rule's name means; blank where nobody has told."""
    if rule.startswith("abstain:"):
        return "declines to answer"
    return _WORDS["rules"].get(rule.removeprefix("date:").removeprefix("amount:"), "")
