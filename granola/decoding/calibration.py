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
    """An answer of so many bits needs the support `base` + `per_bit` * bits, a share of the counted responses.

    Neither is below 0: a finer answer never needs less. Raises UsageError for other numbers.
    """

    base: float
    per_bit: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(one) and one >= 0 for one in (self.base, self.per_bit)):
            raise UsageError("a calibration has two numbers of 0 or more, base and per_bit")

    def demanded(self, bits: float) -> float:
        """The least share for answers of so many bits; above 1 none suffices."""
        return self.base + self.per_bit * bits

    def table(self) -> dict[str, float]:
        """The share demanded of answers of so many bits."""
        return {f"{bits} bits": round(self.demanded(float(bits)), 3) for bits in (0, 2, 4, 6, 8, 10, 12)}

    def write(self, path: Path) -> None:
        """Write the file that `read` reads, with the shares that it demands."""
        told = {"kind": KIND, **asdict(self), "support demanded": self.table()}
        path.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Calibration:
        """A calibration from its file. Raises UsageError for a file that is none."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data.get("kind") != KIND:
                raise ValueError(f"its kind is not {KIND}")
            return cls(base=float(data["base"]), per_bit=float(data["per_bit"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"{path}: not a calibration: {error}") from error
