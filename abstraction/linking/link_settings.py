"""The parameters of linking, from `abstraction/data/linking.json`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from abstraction.base.properties import package_data


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkSettings:
    """The weights of signs (log odds per unit), the rules with their signs, and the thresholds of confidence.

    `shares` are thresholds in (0, 1) on a candidate's share of belief: "high" and "medium" for that confidence of a
    link, "state" and "great" instead of "medium" for a state and a great city, and "rival" for being listed as a
    rival. `well_known` is the number of uses from which the name alone gives "high" to a lone candidate. The weights
    in `doubts` are summed; from `most_doubt` on the link is abandoned. `fingerprint` identifies the settings in the
    record of a run.
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
    """The settings of the package."""
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
