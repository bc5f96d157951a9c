"""How much support an answer needs, by how fine it is: of two as well backed the coarser is more often right.

Fitted to questions whose answers are known (`granola calibrate`), kept as a small file, taken by `--calibration`.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

from granola.errors import UsageError

KIND = "granola-calibration"


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibration:
    """P(right) = 1 / (1 + exp(-(intercept + of_share * share + of_bits * bits))); an answer needs P(right) >= `least`.

    `share` in [0, 1] is the support, `bits` >= 0 the fineness of the answer. More support never makes an answer less
    sure, more bits never surer: of_share > 0, of_bits <= 0. Raises UsageError for other numbers.
    """

    intercept: float
    of_share: float
    of_bits: float
    least: float

    def __post_init__(self) -> None:
        numbers = (self.intercept, self.of_share, self.of_bits, self.least)
        if not all(map(math.isfinite, numbers)) or self.of_share <= 0 or self.of_bits > 0 or not 0 < self.least < 1:
            raise UsageError(
                "a calibration has finite numbers, of_share above 0, of_bits up to 0, and least between 0 and 1"
            )

    def chance(self, share: float, bits: float) -> float:
        """The fitted probability that an answer with this support and fineness is right, in (0, 1)."""
        return 1.0 / (1.0 + math.exp(-max(-700.0, self._score(share, bits))))

    def demanded(self, bits: float) -> float:
        """The least share for answers of so many bits: above 1 where none suffices, 0 where any does."""
        odds = math.log(self.least / (1.0 - self.least))
        return max(0.0, (odds - self.intercept - self.of_bits * bits) / self.of_share)

    def _score(self, share: float, bits: float) -> float:
        return self.intercept + self.of_share * share + self.of_bits * bits

    def write(self, path: Path) -> None:
        """Write the file that `read` reads."""
        path.write_text(json.dumps({"kind": KIND, **asdict(self)}, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Calibration:
        """A calibration from its file. Raises UsageError for a file that is none."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data.get("kind") != KIND:
                raise ValueError(f"its kind is not {KIND}")
            return cls(**{name: float(data[name]) for name in ("intercept", "of_share", "of_bits", "least")})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{path}: not a calibration: {error}") from error
