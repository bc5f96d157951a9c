"""Items: the input of the matcher from a row of a question, the result for it, and all results of a report."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

from abstraction.files.rows import TieredRow
from granola.matching.verdict import Verdict
from granola.scoring.metrics import Outcome, Standard

# Fields of a row that matchers use: the names of its levels, and their language.


def names_of(row: TieredRow, standard: Standard = "aliases") -> list[list[str]]:
    """The acceptable names of each level, finest level first: texts and aliases; level 1 also has all gold answers.

    With `standard` "gold", level 1 has the gold answers alone.
    """
    aliases = row.levels[0].names() if row.levels and standard == "aliases" else ()
    first = list(dict.fromkeys([*row.answers, *aliases]))
    return [first, *(list(dict.fromkeys(level.names())) for level in row.levels[1:])]


def language_of(row: TieredRow) -> str | None:
    """The language code in the row, None without one."""
    code = row.extra.get("language")
    return code if isinstance(code, str) and code.strip() else None


# Results.


_WRONG, _ABSTAINED, _UNSCORED, _SAME = 0, -1, -2, -3  # codes in place of a level in arrays; _SAME: `other` is None
NO_BITS = -1.0  # marks a missing value in arrays of bits, which are never negative


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemScore:
    """One question with one prediction and its verdict; `verdict` is None where there is no prediction.

    `weight` is None where nothing matched. `bits` and `bits_share` are 0 where nothing matched, and None where the
    ladder has no bits. `other` is the outcome by the other standard of level 1 (with or without its aliases), None
    where that is the same.
    """

    id: str
    relation: str | None
    prediction: str | None
    verdict: Verdict | None
    weight: float | None
    bits: float | None = None
    bits_share: float | None = None
    other: Outcome | None = None

    @property
    def status(self) -> Literal["matched", "wrong", "abstained", "unscored"]:
        """The result in one word."""
        if self.verdict is None:
            return "unscored"
        if self.verdict.abstained:
            return "abstained"
        return "wrong" if self.verdict.level is None else "matched"

    @property
    def outcome(self) -> Outcome | None:
        """The outcome that metrics count; None for an unscored item."""
        if self.verdict is None:
            return None
        return Outcome(
            level=self.verdict.level,
            abstained=self.verdict.abstained,
            bits=self.bits,
            share=self.bits_share,
            other=self.other,
        )

    def to_json(self) -> dict[str, Any]:
        """The row of a per-item file; `level`, `rule`, `weight` and bits are null where there is none.

        `other_level` is the level by the other standard of level 1, null where there is none. `answer` is the part of
        the prediction that was judged, and `cuts` are the rules that removed the remainder, if any did.
        """
        verdict = self.verdict
        compared = verdict.compared if verdict else None
        return {
            "id": self.id,
            "relation": self.relation,
            "prediction": self.prediction,
            "status": self.status,
            "level": verdict.level if verdict else None,
            "rule": verdict.rule if verdict else None,
            "compared": {"prediction": compared.prediction, "tier": compared.tier} if compared else None,
            "score": verdict.score if verdict else None,
            "abstained": verdict.abstained if verdict else None,
            "weight": self.weight,
            "bits": self.bits,
            "bits_share": self.bits_share,
            "other_level": self.other.level if self.other else verdict.level if verdict else None,
            **({"answer": verdict.answer, "cuts": list(verdict.cuts)} if verdict and verdict.cuts else {}),
        }


class ItemScores(Sequence[ItemScore]):
    """Items in the order of the rows; `ids` and `outcomes` cover all scored rows, whole items only those kept.

    A million items take a gigabyte, their outcomes thirty megabytes.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        # Arrays, since an object for each of a million items takes a gigabyte.
        self._levels = array("l")
        self._others = array("i")
        self._bits = array("d")
        self._shares = array("d")
        self._kept: list[ItemScore] = []

    def append(self, item: ItemScore, *, keep: bool = True) -> None:
        """Append an item; the whole of it where `keep`, else its id and outcome."""
        verdict = item.verdict
        level = _UNSCORED if verdict is None else _ABSTAINED if verdict.abstained else verdict.level or _WRONG
        other = item.other
        self.ids.append(item.id)
        self._levels.append(level)
        self._others.append(_SAME if other is None else _ABSTAINED if other.abstained else other.level or _WRONG)
        self._bits.append(NO_BITS if item.bits is None else item.bits)
        self._shares.append(NO_BITS if item.bits_share is None else item.bits_share)
        if keep:
            self._kept.append(item)

    def outcomes(self) -> Iterator[Outcome | None]:
        """The outcome of every item, in order; None for an unscored item."""
        pairs = zip(self._levels, self._others, strict=True)
        # Outcomes without bits are few; one object serves all items that have them.
        plain = {pair: _outcome_from_codes(*pair) for pair in set(pairs)}
        rows = zip(self._levels, self._others, self._bits, self._shares, strict=True)
        for level, other, bits, share in rows:
            known = plain[level, other]
            if known is None or bits == NO_BITS:
                yield known
            else:
                yield _outcome_from_codes(level, other, bits, None if share == NO_BITS else share)

    def __len__(self) -> int:
        return len(self._kept)

    @overload
    def __getitem__(self, index: int) -> ItemScore: ...
    @overload
    def __getitem__(self, index: slice) -> list[ItemScore]: ...
    def __getitem__(self, index: int | slice) -> ItemScore | list[ItemScore]:
        return self._kept[index]


def _outcome_from_codes(
    level: int, other: int, bits: float | None = None, share: float | None = None
) -> Outcome | None:
    if level == _UNSCORED:
        return None
    return Outcome(
        level=level if level > 0 else None,
        abstained=level == _ABSTAINED,
        bits=bits,
        share=share,
        other=None if other == _SAME else _outcome_from_codes(other, _SAME),
    )
