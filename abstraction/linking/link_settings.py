"""The numbers that linking works with, from `abstraction/data/linking.json`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from abstraction.package_data import package_data


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkSettings:
    """Weights of signs in log odds a unit, names of rules with their signs, and the bounds of confidence.

    `shares` are parts of the belief in (0, 1): from "high" and from "medium" on a link has that confidence, that to a
    state from "state", that to a great city from "great", and from "rival" on a candidate is a rival. `well_known` are
    uses from which on a lone candidate's name alone is enough for "high". `doubts` add up to `most_doubt`, from which
    on it is given up. `fingerprint` tells settings apart in the record of a run.
    """

    weights: Mapping[str, float]
    rules: Mapping[str, tuple[str, ...]]
    shares: Mapping[str, float]
    doubts: Mapping[str, float]
    most_doubt: float
    well_known: int
    fingerprint: str


@lru_cache(maxsize=1)
def link_settings() -> LinkSettings:
    """The settings that come with the package."""
    data = package_data("linking.json")
    return LinkSettings(
        weights=data["weights"],
        rules={name: tuple(signs) for name, signs in data["rules"].items()},
        shares=data["shares"],
        doubts=data["doubts"],
        most_doubt=data["most_doubt"],
        well_known=data["well_known"],
        fingerprint=hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12],
    )
