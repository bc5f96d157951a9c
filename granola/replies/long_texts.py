"""Long texts that a model wrote, without its thoughts and the tokens of turns; nothing that it says is cut."""

from __future__ import annotations

from abstraction.language.template_marks import own_turn, without_thoughts


def said(text: str) -> str:
    """The text that a reader sees. A long answer has paragraphs, lists and headings of its own: all of it is kept.

    Of a text that ends in the midst of a thought nothing is left.
    """
    shown, unfinished = without_thoughts(text)
    return "" if unfinished else own_turn(shown).strip()
