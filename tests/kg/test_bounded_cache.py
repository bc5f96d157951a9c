"""A cache that long texts cannot fill."""

from __future__ import annotations

from kg.bounded_cache import bounded_cache


def test_short_texts_are_kept_and_long_ones_are_not() -> None:
    asked: list[str] = []

    @bounded_cache(entries=2, longest=3)
    def double(text: str) -> str:
        asked.append(text)
        return text * 2

    assert [double(text) for text in ("abc", "abc", "abcd", "abcd")] == ["abcabc", "abcabc", "abcdabcd", "abcdabcd"]
    assert asked == ["abc", "abcd", "abcd"]
    assert double.cache_info().currsize == 1  # type: ignore[attr-defined]
    double("x"), double("y")
    double("abc")
    assert asked[-1] == "abc", "only the last entries are kept"
