"""Capitals of units that many states have under one name: Washington County's seat is another in each."""

from __future__ import annotations

import re

from abstraction.linking.gazetteer import Gazetteer
from abstraction.relations import Relation
from kg.terms import normalise

CAPITAL = "P36"
_UNIT = re.compile(
    r"[A-ZÀ-Þ][\w.'’-]{0,40}+(?: (?:of|and|the|de|la|[A-ZÀ-Þ][\w.'’-]{0,40}+)){0,8} "
    r"(?P<kind>County|District|Parish|Province|Region|Department)$"
)


def lies_elsewhere(qid: str, relation: Relation, question: str, gazetteer: Gazetteer) -> bool:
    """Whether a capital is said to lie in another unit of the kind asked for: another county, say."""
    asked = _unit(relation, question)
    if asked is None:
        return False
    kind, name = normalise(asked["kind"]), normalise(asked[0])
    same_kind = [above for above in gazetteer.above(qid) if above.endswith(f" {kind}")]
    return bool(same_kind) and name not in same_kind and not any(a.startswith(name) for a in same_kind)


def is_unlikely_seat(qid: str, relation: Relation, question: str, gazetteer: Gazetteer) -> bool:
    """Whether a name alone is too little for a capital.

    Of the many namesakes of a county's seat the snapshot may hold another. A state is no capital.
    """
    if relation.id != CAPITAL:
        return False
    asked = _unit(relation, question)
    return (asked is not None and asked["kind"] == "County") or gazetteer.is_state(qid)


def _unit(relation: Relation, question: str) -> re.Match[str] | None:
    return _UNIT.search(question.rstrip("?. ")) if relation.id == CAPITAL else None
