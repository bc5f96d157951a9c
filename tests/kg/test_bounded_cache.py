"""A cache that long texts cannot fill."""

from __future__ import annotations

from kg.base.bounded_cache import SizedDict, bounded_cache


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


def test_a_sized_dict_holds_no_more_than_its_bound_and_always_the_last() -> None:
    kept: SizedDict[str, str] = SizedDict(10, lambda key, value: len(key) + len(value))
    kept["a"], kept["b"] = "1234", "5678"
    assert (dict(kept), kept.held) == ({"a": "1234", "b": "5678"}, 10)
    kept["c"] = "9"
    assert (dict(kept), kept.held) == ({"c": "9"}, 2)
    kept["much"] = "x" * 100
    assert list(kept) == ["much"]
    kept["d"] = "0"
    assert (list(kept), kept.held) == (["d"], 2)
