"""How much support an answer needs, by how fine it is: of two as well backed the coarser is more often right.

Fitted to questions whose answers are known (`granola calibrate`), kept as a small file, taken by `--calibration`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from granola.decoding.decision import Abstaining
from granola.errors import UsageError
from kg.files import atomic_path

KIND = "granola-calibration"
CLOSE = 1e-9  # shares of responses that are equal but for rounding


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """An answer of so many bits needs the support `base` + `per_bit` * bits, a share of the counted responses.

    Where no answer has that, the surest of them, with most support beyond `per_bit` * its bits, needs `least` +
    `per_bit` * bits; None for no such second chance. 0 <= least <= base and 0 <= per_bit: a finer answer never needs
    less. `abstaining` is what responses count that decline, which shares depend on. Raises UsageError for other values.
    """

    base: float
    per_bit: float
    least: float | None = None
    abstaining: Abstaining = Abstaining.MAJORITY

    def __post_init__(self) -> None:
        numbers = (self.base, self.per_bit, self.base if self.least is None else self.least)
        if not all(math.isfinite(number) and number >= 0 for number in numbers) or not numbers[2] <= self.base <= 1:
            raise UsageError("a calibration has numbers of 0 or more: least up to base, base up to 1, and per_bit")
        if self.abstaining is Abstaining.PASS:
            raise UsageError("a calibration has abstaining majority, ignore or against; pass is drag's")

    def demanded(self, bits: float) -> float:
        """The least share for answers of so many bits, where there is no second chance; above 1 none suffices."""
        return self.base + self.per_bit * bits

    def chosen(self, answers: Sequence[tuple[float, float]]) -> int | None:
        """Which of the answers to give: each a share of support and bits, the finest first. None for none of them."""
        beyond = [share - self.per_bit * bits + CLOSE for share, bits in answers]
        first = next((at for at, much in enumerate(beyond) if much >= self.base), None)
        if first is None and self.least is not None and beyond and max(beyond) >= self.least:
            return beyond.index(max(beyond))
        return first

    def table(self) -> dict[str, float]:
        """The share demanded of answers of so many bits."""
        return {f"{bits} bits": round(self.demanded(float(bits)), 3) for bits in (0, 2, 4, 6, 8, 10, 12)}

    def write(self, path: Path, *, evidence: dict[str, Any] | None = None) -> None:
        """Write the file that `read` reads, with the shares that it demands and what it was fitted to."""
        document = {"kind": KIND, **asdict(self), "support demanded": self.table(), **(evidence or {})}
        with atomic_path(path) as temporary:
            temporary.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Calibration:
        """A calibration from its file. Raises UsageError for a file that is none."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data.get("kind") != KIND:
                raise ValueError(f"its kind is not {KIND}")
            return cls(
                base=_number(data["base"]),
                per_bit=_number(data["per_bit"]),
                least=None if data.get("least") is None else _number(data["least"]),
                abstaining=Abstaining(data.get("abstaining", Abstaining.MAJORITY)),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{path}: not a calibration: {error}") from error


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is no number")
    return float(value)
