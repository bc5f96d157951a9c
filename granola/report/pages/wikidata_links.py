"""Addresses at WikiData of the entities and statements in evidence."""

from __future__ import annotations

import re

from kg.base.model import ENTITY_ID

# The statement ids that WikiData's pages use as anchors; other ids were made for data without ids.
_STATEMENT_ID = re.compile(r"\A[QP][0-9]+\$[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}\Z", re.IGNORECASE)


def address(qid: str, *, prop: str | None = None, statement: str | None = None) -> str | None:
    """The page of an entity at WikiData, at a statement or else at those of `prop`; None for an invalid id."""
    # Ids may come from files of others and are put into an address.
    if not ENTITY_ID.match(qid) or (prop is not None and not ENTITY_ID.match(prop)):
        return None
    page = f"Property:{qid}" if qid.startswith("P") else qid
    # Pages of entities have anchors for statements and for properties.
    anchor = statement if statement and _STATEMENT_ID.match(statement) else prop
    return f"https://www.wikidata.org/wiki/{page}" + (f"#{anchor}" if anchor else "")
