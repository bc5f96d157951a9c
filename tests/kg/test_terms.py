"""Names: which are equal, and whose are shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.base.model import best_text_and_language, fallback_chain, names_with_fallbacks, normalise


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Paris", "  PARIS "),
        ("New  York", "new\tyork"),
        ("O’Brien", "O'Brien"),
        ("O´Brien", "o`brien"),
        ("Saint–Étienne", "saint-étienne"),
        ("E\u0301tienne", "Étienne"),
        ("Ｐａｒｉｓ", "paris"),
        ("Straße", "STRASSE"),
        ("non\u00adsense", "nonsense"),
        ("a\u00a0b", "a b"),
        ("a\x00b", "AB"),
    ],
)
def test_equal_names(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


def test_accents_count() -> None:
    assert normalise("Étienne") != normalise("Etienne")


@given(st.text())
def test_normalising_twice_is_the_same_as_once(name: str) -> None:
    assert normalise(normalise(name)) == normalise(name)


def test_fallbacks_end_in_mul_and_en() -> None:
    assert fallback_chain("en") == ("en", "mul")
    assert fallback_chain("de-at") == ("de-at", "de", "mul", "en")
    assert fallback_chain("xx-yy") == ("xx-yy", "xx", "mul", "en")


def test_best_text_and_names() -> None:
    labels = {"mul": "Goethe", "ar": "غوته"}
    assert best_text_and_language(labels, "de") == ("Goethe", "mul")
    assert best_text_and_language({"ar": "غوته"}, "de") == ("غوته", "ar")
    assert best_text_and_language({}, "de") is None
    assert names_with_fallbacks(labels, {"en": ("GOETHE", "J. W. G.")}, "de") == ("Goethe", "J. W. G.")
