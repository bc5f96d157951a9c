"""Names are compared normalised, and ids are numbers."""

from __future__ import annotations

from kg.base.model import fallback_chain, id_of, normalise, signed_number


def test_names_and_ids() -> None:
    assert normalise("  O\u2019Hara ") == normalise("o'hara")
    assert fallback_chain("de-at") == ("de-at", "de", "mul", "en")
    assert (signed_number("Q42"), signed_number("P31"), signed_number("x")) == (42, -31, None)
    assert id_of(-31) == "P31"
