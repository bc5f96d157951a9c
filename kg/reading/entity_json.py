"""One entity object, as a dump line or a `wbgetentities` answer has it -> `Entity`.

Tolerant of what the format has been over the years: `[]`, `{}`, null or nothing for any empty map or list, no
datatype, plain strings for terms and entity values, numeric ids alone, no claims, `statements` for `claims`.
Items and properties are read. Lexemes, media files and other kinds are rejected with their kind as the
reason. What cannot be read inside an entity is rejected piece by piece and the rest kept. A statement with an
unreadable qualifier is rejected whole: without its end time, say, it would state something else.

References are not read: no answer rests on them, and they are most of a dump's bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import md5
from itertools import chain
from typing import Any

import orjson
from msgspec import Struct, structs

from kg.model import ENTITY_ID, Entity, Rank, Snak, SnakKind, Statement, Value
from kg.reading.numbers import LONGEST_NAME, is_language
from kg.reading.snaks import Unreadable, entity_edge, read_property_id, read_snak, shortened
from kg.store.entity_rows import encode_value

_RANKS: Mapping[object, Rank] = {rank.value: rank for rank in Rank}


class Reject(Struct, frozen=True, kw_only=True, array_like=True):
    """Something that was not read: where, a short code for counting, what was found, whose it was, how it begins."""

    line: int | None = None
    reason: str
    detail: str
    entity: str | None = None
    statement: str | None = None
    excerpt: str | None = None

    def to_json(self) -> dict[str, Any]:
        """What is known of it."""
        return {key: value for key, value in structs.asdict(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class Decoded:
    """What one entity object gave: the entity (None where rejected whole), rejects, ids merged into it."""

    entity: Entity | None
    rejects: tuple[Reject, ...] = ()
    redirects: tuple[str, ...] = ()


def entity_id(data: Mapping[str, Any]) -> str:
    """The id of an item or property. Raises `Unreadable` for other kinds, missing entities and bad ids."""
    raw_id = data.get("id")
    kind = data.get("type")
    if isinstance(kind, str) and kind not in ("item", "property"):
        raise Unreadable(kind if kind in ("lexeme", "mediainfo") else "unknown-kind", f"{raw_id} is of kind {kind!r}")
    if not isinstance(raw_id, str):
        raise Unreadable("no-id", "an entity needs an id")
    if "missing" in data:
        raise Unreadable("missing", f"{raw_id} does not exist at the source")
    if ENTITY_ID.match(raw_id):
        return raw_id
    if ENTITY_ID.match(raw_id.upper()):
        return raw_id.upper()
    if raw_id[:1] in ("L", "M"):
        raise Unreadable("lexeme" if raw_id[0] == "L" else "mediainfo", f"{raw_id} is neither item nor property")
    raise Unreadable("bad-id", f"{raw_id[:40]!r} is no item or property id")


def decode(data: object, *, languages: Collection[str] | None = None) -> Decoded:
    """Read one entity object, with terms of `languages` alone (None: all). Never raises for bad content.

    A line that was rejected stays so.
    """
    if isinstance(data, Reject):
        return Decoded(entity=None, rejects=(data,))
    if not isinstance(data, dict):
        return Decoded(
            entity=None,
            rejects=(Reject(reason="not-an-object", detail=f"expected an object, found {type(data).__name__}"),),
        )
    try:
        subject = entity_id(data)
    except Unreadable as error:
        given = data.get("id")
        shown_id = given[:40] if isinstance(given, str) else None
        return Decoded(entity=None, rejects=(Reject(reason=error.reason, detail=str(error), entity=shown_id),))
    rejects: list[Reject] = []
    datatype = data.get("datatype")
    sitelinks = data.get("sitelinks")
    if sitelinks is not None and not isinstance(sitelinks, dict | list):
        detail = shortened(f"sitelinks {sitelinks!r:.80} are neither a map nor a list")
        rejects.append(Reject(reason="bad-sitelinks", detail=detail, entity=subject))
        sitelinks = None
    entity = Entity(
        id=subject,
        labels=_texts(data.get("labels"), languages, subject, "label", rejects),
        descriptions=_texts(data.get("descriptions"), languages, subject, "description", rejects),
        aliases=_aliases(data.get("aliases"), languages, subject, rejects),
        statements=tuple(_statements(data, subject, rejects)),
        sitelinks=len(sitelinks) if sitelinks else 0,
        datatype=datatype if isinstance(datatype, str) else None,
    )
    return Decoded(entity=entity, rejects=tuple(rejects), redirects=_redirects(data, subject))


def edges(data: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """(property, target id or None) of every statement that counts, in source order; see `entity_edge`."""
    for _, statement in _claims(data):
        edge = entity_edge(statement)
        if edge is not None:
            yield edge


def term_texts(data: Mapping[str, Any], languages: Collection[str] | None = None) -> Iterator[str]:
    """Every label and alias of an entity object in `languages` (None: all), without building the entity."""
    unread: list[Reject] = []
    yield from _texts(data.get("labels"), languages, "", "label", unread).values()
    for texts in _aliases(data.get("aliases"), languages, "", unread).values():
        yield from texts


def _claims(data: Mapping[str, Any]) -> Iterator[tuple[str | None, Any]]:
    claims = data.get("claims") or data.get("statements")
    if isinstance(claims, dict):
        for prop, statements in claims.items():
            if isinstance(statements, list):
                for statement in statements:
                    yield prop, statement
            elif statements:  # one statement without its list
                yield prop, statements
    elif isinstance(claims, list):
        for statement in claims:
            yield None, statement


def _statements(data: Mapping[str, Any], subject: str, rejects: list[Reject]) -> Iterator[Statement]:
    checked: dict[str, str] = {}
    unnamed: Counter[str] = Counter()
    for key, claim in _claims(data):
        try:
            prop = None
            if key is not None and (prop := checked.get(key)) is None:
                prop = checked[key] = read_property_id(key)
            if not isinstance(claim, dict):
                raise Unreadable("bad-statement", f"expected an object, found {type(claim).__name__}")
            snak = claim.get("mainsnak")
            if snak is None:
                raise Unreadable("bad-statement", "a statement needs a mainsnak")
            prop, kind, value = read_snak(snak, prop)
            rank = _RANKS.get(claim.get("rank", "normal"))
            if rank is None:
                raise Unreadable("bad-rank", f"rank {claim['rank']!r:.80} is none of {', '.join(Rank)}")
            qualifiers = claim.get("qualifiers")
            datatype = snak.get("datatype")
            name = claim.get("id")
            if isinstance(name, str) and len(name) > LONGEST_NAME:
                raise Unreadable("bad-id", f"a statement's id of {len(name)} characters")
            if not isinstance(name, str) or not name:  # statements of old dumps carry none
                name = f"{subject}${prop}-{_digest(kind, value)}"
                unnamed[name] += 1
                if unnamed[name] > 1:
                    name = f"{name}-{unnamed[name]}"
            yield Statement(
                id=name,
                subject=subject,
                property=prop,
                rank=rank,
                kind=kind,
                value=value,
                qualifiers=_qualifiers(qualifiers, claim.get("qualifiers-order")) if qualifiers else (),
                datatype=datatype if isinstance(datatype, str) else None,
            )
        except (Unreadable, TypeError) as error:  # TypeError: an unhashable where a word is due
            name = claim.get("id") if isinstance(claim, dict) else None
            rejects.append(
                Reject(
                    reason=error.reason if isinstance(error, Unreadable) else "bad-statement",
                    detail=shortened(f"{shortened(str(key), 24)}: {error}"),
                    entity=subject,
                    statement=shortened(name, LONGEST_NAME) if isinstance(name, str) else None,
                )
            )


def _digest(kind: SnakKind, value: Value | None) -> str:
    """What a statement without an id is known by: its value, so that nothing that stands beside it names it anew."""
    content = orjson.dumps([kind, None if value is None else encode_value(value)])
    return md5(content, usedforsecurity=False).hexdigest()[:16]


def in_order(snaks: Mapping[str, Any], told: Iterable[str]) -> Iterable[str]:
    """The properties of qualifiers, those first whose order is told."""
    return snaks if len(snaks) < 2 else dict.fromkeys(chain((prop for prop in told if prop in snaks), snaks))


def _qualifiers(data: object, order: object) -> tuple[Snak, ...]:
    if isinstance(data, dict):
        groups: list[Any] = [(prop, data[prop]) for prop in in_order(data, order if isinstance(order, list) else ())]
    else:
        groups = [(None, data)]
    snaks: list[Snak] = []
    for prop, group in groups:
        for snak in group if isinstance(group, list) else [group]:
            try:
                of, kind, value = read_snak(snak, read_property_id(prop) if prop is not None else None)
                snaks.append(Snak(property=of, kind=kind, value=value))
            except Unreadable as error:
                raise Unreadable(error.reason, f"qualifier {shortened(str(prop), 24)}: {error}") from None
    return tuple(snaks)


def _term(language: object, entry: object) -> tuple[str, str] | None:
    # With languagefallback the API puts another language's text under the asked key and says so inside.
    if isinstance(entry, dict):
        inside = entry.get("language")
        if isinstance(inside, str):
            language = inside
        entry = entry.get("value")
    if isinstance(language, str) and is_language(language) and isinstance(entry, str):
        return language, entry
    return None


def _bad_term(what: str, key: object, given: object, subject: str) -> Reject:
    inside = given.get("language") if isinstance(given, dict) else None
    bad = any(isinstance(code, str) and not is_language(code) for code in (key, inside))
    why = "no language code" if bad else "no text"
    return Reject(reason="bad-term", detail=f"{what} {shortened(str(key), 24)}: {why}", entity=subject)


def _entries(data: object) -> Iterator[tuple[object, Any]]:
    if isinstance(data, dict):
        yield from data.items()
    elif isinstance(data, list):  # a list of {language, value} instead of a map
        for given in data:
            yield None, given
    elif data is not None:  # neither: one entry that cannot be used
        yield None, data


def _texts(
    data: object, languages: Collection[str] | None, subject: str, what: str, rejects: list[Reject]
) -> dict[str, str]:
    texts: dict[str, str] = {}
    for key, entry in _entries(data):
        if languages is not None and isinstance(key, str) and key not in languages:
            continue
        term = _term(key, entry)
        if term is None:
            rejects.append(_bad_term(what, key, entry, subject))
        elif languages is None or term[0] in languages:
            texts.setdefault(*term)
    return texts


def _aliases(
    data: object, languages: Collection[str] | None, subject: str, rejects: list[Reject]
) -> dict[str, tuple[str, ...]]:
    texts_by_language: dict[str, list[str]] = {}
    for key, group in _entries(data):
        if languages is not None and isinstance(key, str) and key not in languages:
            continue
        if isinstance(group, dict) and "value" not in group:  # {"0": {...}} for a list, as PHP may write one
            group = list(group.values())
        for entry in group if isinstance(group, list) else [group]:
            term = _term(key, entry)
            if term is None:
                rejects.append(_bad_term("alias", key, entry, subject))
            elif languages is None or term[0] in languages:
                texts_by_language.setdefault(term[0], []).append(term[1])
    return {language: tuple(texts) for language, texts in texts_by_language.items()}


def _redirects(data: Mapping[str, Any], subject: str) -> tuple[str, ...]:
    given = data.get("redirects")
    merged = given.get("from") if isinstance(given, dict) else None
    return (merged,) if isinstance(merged, str) and ENTITY_ID.match(merged) and merged != subject else ()
