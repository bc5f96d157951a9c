"""What a mirror answers, as entities and matches: the inverse of `kg.store.neo4j_rows`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import orjson

from kg.ids import id_of
from kg.model import Entity, Statement
from kg.store import schema
from kg.store.entity_rows import Decoder
from kg.store.neo4j_rows import RANKS, default_datatype
from kg.store.protocol import NameMatch

TERMS = ("label", "description", "aliases")  # properties of a node are these, "_" and a language

_RANK_CODES = {name: code for code, name in RANKS.items()}


def read_entity(
    decoder: Decoder,
    number: int,
    sitelinks: int,
    datatype: str | None,
    literals: str | None,
    related: list[Any],
    terms: Mapping[str, Any],
    properties: Collection[str] | None,
) -> Entity:
    """An entity from its node and relationships.

    `literals` is the node's `statements`; `related` has [type, ordinal, rank, target, qualifiers, id, datatype] a
    relationship; of `terms` everything is passed over that is no term. Statements of `properties` (None: all).
    Raises ValueError, TypeError, LookupError or ArithmeticError for what no push has written.
    """
    subject = id_of(number)
    decode = decoder.statement
    stated: list[tuple[int, int, Statement]] = []
    if literals is not None:
        for prop, rows in orjson.loads(literals).items():
            if properties is None or prop in properties:
                place = int(prop[1:])
                for ordinal, rank, kind, value, qualifiers, name, about in rows:
                    statement = decode(subject, place, rank, kind, value, qualifiers, name, about)
                    stated.append((place, ordinal, statement))
    for prop, ordinal, rank, target, qualifiers, name, about in related:
        place = int(prop[1:])
        statement_datatype = default_datatype(target) if about is None else about or None
        statement = decode(
            subject, place, _RANK_CODES[rank], schema.ENTITY, target, qualifiers, f"={name}", statement_datatype
        )
        stated.append((place, ordinal, statement))
    stated.sort(key=_place)
    terms_by_kind: dict[str, dict[str, Any]] = {kind: {} for kind in TERMS}
    for key, text in terms.items():
        kind, _, language = key.partition("_")
        if kind in terms_by_kind and language:
            terms_by_kind[kind][language] = text
    return Entity(
        id=subject,
        labels=terms_by_kind["label"],
        descriptions=terms_by_kind["description"],
        aliases={language: tuple(orjson.loads(text)) for language, text in terms_by_kind["aliases"].items()},
        statements=tuple([statement for _, _, statement in stated]),
        sitelinks=sitelinks,
        datatype=datatype,
    )


def read_matches(carriers: str, languages: Collection[str] | None) -> list[NameMatch]:
    """The property `carriers` of a name: one match an entity, in the order of `Store.find`. Raises as `read_entity`."""
    best: dict[int, tuple[int, str, str]] = {}
    for number, *rest in orjson.loads(carriers):
        match = (rest[0], rest[1], rest[2])
        if (languages is None or match[1] in languages) and (number not in best or match < best[number]):
            best[number] = match
    ordered = sorted(best.items(), key=lambda one: (one[1][0], abs(one[0]), -one[0]))
    return [
        NameMatch(
            id=id_of(number), kind="label" if kind == schema.LABEL else "alias", language=language, text=text
        )
        for number, (kind, language, text) in ordered
    ]  # fmt: skip


def _place(item: tuple[int, int, Statement]) -> tuple[int, int]:
    return item[:2]
