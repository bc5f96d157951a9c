"""The demo's fact tables: a compact notation for WikiData entities, read into the dump's JSON.

One block an entity. The first line starts in column one, all others are indented:

    Q64 Berlin | capital and largest city of Germany | Berlin, Germany ; Land Berlin
      @de Berlin | Hauptstadt Deutschlands
      P31 city ; capital ; P17 Germany ^ {P580 1990-10-03} ; German Empire {P580 1871 & P582 1918}
      P1082 3677472 {P585 2021-12-31}
      wiki en,de,fr ; es=Berlín

The head is `QID label | description | alias ; alias`. A label written `mul:Label` is given in `mul` alone,
as WikiData does for ever more people. `@code` lines add terms in another language. Statement lines hold
values separated by " ; "; a value that opens with a property id starts that property, the others continue
it. After a value: `^` preferred rank, `~` deprecated rank, `{...}` qualifiers separated by " & ".

An item is named by its label where only one entity of the tables bears it, else by `QID label` (the label
is checked). `*QID` is an item that the tables leave out on purpose. `?` is an unknown value, `--` no value.
Times are `1961-08-04`, `1961-08`, `1961`, BCE years negative, a precision as `/8` (decade) or `/7`
(century), a trailing `j` for the Julian calendar. Quantities are `324 m`, with bounds `8848.86±0.21 m`.
Texts are `en:American`.

`wiki` gives the sitelinks: languages whose article is titled as the label, or `lang=Title`. File-wide
defaults stand in column one: `%with P31 human` puts statements before those of each following entity,
`%wiki en,de` sets the sitelinks of entities without a line of their own; both last until the next one.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TIME = frozenset({"P569", "P570", "P571", "P576", "P577", "P580", "P582", "P585"})
QUANTITY = frozenset({"P1082", "P2043", "P2044", "P2046", "P2047", "P2048", "P2142"})
MONOLINGUAL = frozenset({"P1448", "P1549"})
STRING = frozenset({"P742"})

UNITS = {
    "m": "Q11573",
    "km": "Q828224",
    "cm": "Q174728",
    "km2": "Q712226",
    "kg": "Q11570",
    "min": "Q7727",
    "USD": "Q4917",
}
GREGORIAN, JULIAN = "Q1985727", "Q1985786"
ENTITY_URI = "http://www.wikidata.org/entity/"
_HEAD = re.compile(r"([QP][1-9]\d*) (mul:)?(.+)")
_TIME = re.compile(r"(-?\d{1,5})(?:-(\d\d))?(?:-(\d\d))?(?:/(\d))?(j)?")
_QUANTITY = re.compile(r"(-?\d+(?:\.\d+)?)(?:±(\d+(?:\.\d+)?))?(?: (\S+))?")


class TableError(ValueError):
    """A fact table that cannot be read; says the file, the line and what was expected."""


@dataclass(kw_only=True)
class Claim:
    """One statement as written: property, value text, rank and qualifiers."""

    property: str
    value: str
    rank: str = "normal"
    qualifiers: list[tuple[str, str]] = field(default_factory=list)


@dataclass(kw_only=True)
class Row:
    """One entity as written."""

    id: str
    where: str
    labels: dict[str, str]
    descriptions: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, list[str]] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    wiki: str = ""


def datatype_of(prop: str) -> str:
    """The WikiData datatype of a property that the tables use; items unless listed."""
    kinds = {"time": TIME, "quantity": QUANTITY, "monolingualtext": MONOLINGUAL, "string": STRING}
    for kind, props in kinds.items():
        if prop in props:
            return kind
    return "globe-coordinate" if prop == "P625" else "wikibase-item"


def read_tables(paths: Iterable[Path]) -> list[Row]:
    """Every row of the tables, in file and line order. Raises TableError for a repeated id or a bad line."""
    rows: list[Row] = []
    seen: dict[str, str] = {}
    for path in paths:
        for row in _read_table(path):
            if row.id in seen:
                raise TableError(f"{row.where}: {row.id} was given before at {seen[row.id]}")
            seen[row.id] = row.where
            rows.append(row)
    return rows


def _read_table(path: Path) -> list[Row]:
    rows: list[Row] = []
    common: list[Claim] = []
    wiki = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{path.name}:{number}"
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("%with"):
            common = _claims(text[5:].strip(), where) if text[5:].strip() else []
        elif text.startswith("%wiki"):
            wiki = text[5:].strip()
        elif not line.startswith(" "):
            rows.append(_head(text, where, wiki))
            rows[-1].claims.extend(common)
        elif not rows:
            raise TableError(f"{where}: an indented line before the first entity")
        elif text.startswith("@"):
            code, _, rest = text[1:].partition(" ")
            _terms(rows[-1], code, rest)
        elif text.startswith("wiki"):
            rows[-1].wiki = text[4:].strip()
        else:
            rows[-1].claims.extend(_claims(text, where))
    return rows


def _head(text: str, where: str, wiki: str) -> Row:
    match = _HEAD.fullmatch(text)
    if not match:
        raise TableError(f"{where}: expected 'QID label | description | aliases', found {text!r}")
    entity, mul, rest = match.groups()
    row = Row(id=entity, where=where, labels={}, wiki=wiki)
    _terms(row, "en", rest)
    if mul:
        row.labels["mul"] = row.labels.pop("en")
        if "en" in row.aliases:
            row.aliases["mul"] = row.aliases.pop("en")
    return row


def _terms(row: Row, code: str, text: str) -> None:
    label, description, aliases = (*[part.strip() for part in text.split("|")], "", "")[:3]
    if label:
        row.labels[code] = label
    if description:
        row.descriptions[code] = description
    if aliases:
        row.aliases[code] = [alias.strip() for alias in aliases.split(" ; ")]


def _claims(text: str, where: str) -> list[Claim]:
    claims: list[Claim] = []
    prop = ""
    for chunk in text.split(" ; "):
        body, _, quals = chunk.strip().partition("{")
        body = body.strip()
        start = re.match(r"(P[1-9]\d*) +(.+)", body)
        if start:
            prop, body = start.groups()
        if not prop or not body:
            raise TableError(f"{where}: expected 'Pnn value', found {chunk!r}")
        rank = "normal"
        if body[-1] in "^~":
            rank = "preferred" if body[-1] == "^" else "deprecated"
            body = body[:-1].strip()
        pairs: list[tuple[str, str]] = []
        for pair in filter(None, quals.rstrip("} ").split(" & ")):
            name, _, value = pair.strip().partition(" ")
            pairs.append((name, value.strip()))
        claims.append(Claim(property=prop, value=body, rank=rank, qualifiers=pairs))
    return claims


class Dump:
    """Rows turned into the JSON dump's entities; names are resolved over all rows together."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self.by_id = {row.id: row for row in rows}
        self._by_label: dict[str, list[str]] = {}
        for row in rows:
            if row.id.startswith("Q"):
                for label in {row.labels.get("en"), row.labels.get("mul")} - {None}:
                    self._by_label.setdefault(str(label), []).append(row.id)

    def entities(self) -> list[dict[str, Any]]:
        """Every entity in the dump's form, items by number, then properties."""
        rows = sorted(self.rows, key=lambda row: (row.id[0] == "P", int(row.id[1:])))
        return [self._entity(row) for row in rows]

    def item(self, name: str, where: str) -> str:
        """The QID that a name stands for. Raises TableError where it is unknown or shared."""
        if name.startswith("*"):
            return name[1:].split(" ")[0]
        match = re.fullmatch(r"(Q[1-9]\d*)(?: (.+))?", name)
        if match:
            row = self.by_id.get(match[1])
            if row is None:
                raise TableError(f"{where}: {name!r} is in no table; write *{match[1]} if that is meant")
            if match[2] and match[2] not in row.labels.values():
                raise TableError(f"{where}: {match[1]} is labelled {row.labels}, not {match[2]!r}")
            return row.id
        found = self._by_label.get(name, [])
        if len(found) != 1:
            raise TableError(f"{where}: the name {name!r} stands for {found or 'no entity'}; write QID and label")
        return found[0]

    def _entity(self, row: Row) -> dict[str, Any]:
        entity: dict[str, Any] = {"type": "item" if row.id[0] == "Q" else "property", "id": row.id}
        if row.id[0] == "P":
            entity["datatype"] = datatype_of(row.id)
        entity["labels"] = {code: {"language": code, "value": text} for code, text in sorted(row.labels.items())}
        entity["descriptions"] = {
            code: {"language": code, "value": text} for code, text in sorted(row.descriptions.items())
        }
        entity["aliases"] = {
            code: [{"language": code, "value": text} for text in texts] for code, texts in sorted(row.aliases.items())
        }
        claims: dict[str, list[dict[str, Any]]] = {}
        for claim in row.claims:
            group = claims.setdefault(claim.property, [])
            group.append(self._statement(row, claim, len(group)))
        entity["claims"] = claims
        if row.id[0] == "Q":
            entity["sitelinks"] = _sitelinks(row)
        return entity

    def _statement(self, row: Row, claim: Claim, position: int) -> dict[str, Any]:
        seed = f"{row.id} {claim.property} {position} {claim.value}"
        statement: dict[str, Any] = {
            "mainsnak": self._snak(claim.property, claim.value, row.where),
            "type": "statement",
        }
        if claim.qualifiers:
            qualifiers: dict[str, list[dict[str, Any]]] = {}
            for prop, value in claim.qualifiers:
                qualifiers.setdefault(prop, []).append(self._snak(prop, value, row.where))
            statement["qualifiers"] = qualifiers
            statement["qualifiers-order"] = list(qualifiers)
        statement["id"] = f"{row.id}${str(uuid.uuid5(uuid.NAMESPACE_URL, ENTITY_URI + seed)).upper()}"
        statement["rank"] = claim.rank
        return statement

    def _snak(self, prop: str, value: str, where: str) -> dict[str, Any]:
        kind = datatype_of(prop)
        if value in ("?", "--"):
            snaktype = "somevalue" if value == "?" else "novalue"
            return {"snaktype": snaktype, "property": prop, "datatype": kind}
        if kind == "wikibase-item":
            qid = self.item(value, where)
            data: Any = {"entity-type": "item", "numeric-id": int(qid[1:]), "id": qid}
            name = "wikibase-entityid"
        elif kind == "time":
            data, name = _time(value, where), "time"
        elif kind == "quantity":
            data, name = _quantity(value, where), "quantity"
        elif kind == "monolingualtext":
            language, _, text = value.partition(":")
            data, name = {"text": text, "language": language}, "monolingualtext"
        elif kind == "globe-coordinate":
            latitude, longitude = (float(part) for part in value.split(","))
            globe = ENTITY_URI + "Q2"
            data = {"latitude": latitude, "longitude": longitude, "altitude": None, "precision": 0.01, "globe": globe}
            name = "globecoordinate"
        else:
            data, name = value, "string"
        datavalue = {"value": data, "type": name}
        return {"snaktype": "value", "property": prop, "datavalue": datavalue, "datatype": kind}


def _time(text: str, where: str) -> dict[str, Any]:
    match = _TIME.fullmatch(text)
    if not match:
        raise TableError(f"{where}: {text!r} is no time; expected 1961-08-04, 1961-08, 1961, 1340/8, -0100-07-12j")
    year, month, day, precision, julian = match.groups()
    return {
        "time": f"{'-' if year[0] == '-' else '+'}{year.lstrip('-'):0>4}-{month or '00'}-{day or '00'}T00:00:00Z",
        "timezone": 0,
        "before": 0,
        "after": 0,
        "precision": int(precision) if precision else 11 if day else 10 if month else 9,
        "calendarmodel": ENTITY_URI + (JULIAN if julian else GREGORIAN),
    }


def _quantity(text: str, where: str) -> dict[str, Any]:
    match = _QUANTITY.fullmatch(text)
    if not match or (match[3] and match[3] not in UNITS):
        raise TableError(f"{where}: {text!r} is no quantity; expected an amount and one of {sorted(UNITS)}")
    amount, bound, unit = match.groups()
    data = {"amount": _signed(amount), "unit": ENTITY_URI + UNITS[unit] if unit else "1"}
    if bound:
        places = max(len(part.partition(".")[2]) for part in (amount, bound))
        data["upperBound"] = _signed(f"{float(amount) + float(bound):.{places}f}")
        data["lowerBound"] = _signed(f"{float(amount) - float(bound):.{places}f}")
    return data


def _signed(amount: str) -> str:
    return amount if amount.startswith("-") else "+" + amount


def _sitelinks(row: Row) -> dict[str, dict[str, Any]]:
    titles: dict[str, str] = {}
    label = row.labels.get("en") or row.labels["mul"]
    for part in filter(None, (part.strip() for part in row.wiki.split(" ; "))):
        codes, given, title = part.partition("=")
        for code in codes.split(","):
            own = row.labels.get(code, label)
            titles[code + "wiki"] = title if given else own[0].upper() + own[1:]
    return {site: {"site": site, "title": title, "badges": []} for site, title in sorted(titles.items())}
