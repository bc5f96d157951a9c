"""What surely holds a thing, where each place is known to lie in others, and some in one or another of several."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

Upward = Mapping[str, Collection[str]]


def all_above(up: Upward, key: str, without: Collection[str] = ()) -> set[str]:
    """The keys above a key, reached without going through some."""
    seen: set[str] = set()
    stack = [key]
    while stack:
        for above in up.get(stack.pop(), ()):
            if above not in seen and above not in without:
                seen.add(above)
                stack.append(above)
    return seen


def entailed(up: Upward, either: Mapping[str, Sequence[Collection[str]]], key: str) -> set[str]:
    """The keys of what surely holds what `key` names.

    `either` has, by key, groups of places of which one or another holds it: Dallas stretches into five counties.
    Those that hold none of their group count alike, and only what all of them lie in is sure.
    """
    known: dict[str, set[str]] = {}

    def holders(inner: str) -> set[str]:
        if inner not in known:
            known[inner] = set()  # a circle adds nothing
            groups = [finest for group in either.get(inner, ()) if len(finest := _finest(up, group)) > 1]
            sure = set(up.get(inner, ())).difference(*groups)
            shared = (set.intersection(*({place} | holders(place) for place in group)) for group in groups)
            known[inner] = set().union(*({place} | holders(place) for place in sure), *shared)
        return known[inner]

    return holders(key)


def _finest(up: Upward, group: Collection[str]) -> set[str]:
    """Those of the places that hold none of the others."""
    return set(group).difference(*(all_above(up, place) for place in group))
