"""Random entities, hostile ones included, for property tests."""

from __future__ import annotations

from decimal import Decimal

import orjson
from hypothesis import strategies as st

from kg.base.model import (
    Entity,
    EntityValue,
    OtherValue,
    QuantityValue,
    Rank,
    Snak,
    SnakKind,
    Statement,
    TextValue,
    TimeValue,
)

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
languages = st.sampled_from(["en", "mul", "de", "zh-hant"])
items = st.integers(1, 12).map(lambda n: f"Q{n}")
properties = st.sampled_from(["P1", "P31", "P279", "P999999"])
ids = st.one_of(items, properties)
numbers = st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9)


@st.composite
def times(draw: st.DrawFn) -> TimeValue:
    year = draw(st.integers(-14_000_000_000, 99_999).filter(bool))
    precision = draw(st.integers(0, 11))
    return TimeValue(
        year=year,
        month=draw(st.integers(1, 12)) if precision >= 10 else None,
        day=draw(st.integers(1, 31)) if precision >= 11 else None,
        precision=precision,
        calendar=draw(st.sampled_from(["gregorian", "julian"])),
    )


@st.composite
def quantities(draw: st.DrawFn) -> QuantityValue:
    bounds: tuple[Decimal | None, Decimal | None] = (None, None)
    if draw(st.booleans()):
        low, high = sorted((draw(numbers), draw(numbers)))
        bounds = (low, high)
    return QuantityValue(amount=draw(numbers), unit=draw(st.none() | items), lower=bounds[0], upper=bounds[1])


others = st.builds(
    OtherValue,
    type=st.sampled_from(["globecoordinate", "new-type"]),
    json=st.dictionaries(texts, st.integers(-5, 5) | texts, max_size=2).map(
        lambda value: orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    ),
)
values = st.one_of(
    st.builds(EntityValue, id=ids | st.sampled_from(["L3", "L3-F1", "M7", "E10"])),
    times(),
    quantities(),
    st.builds(TextValue, text=texts),
    st.builds(TextValue, text=texts, language=languages),
    others,
)


@st.composite
def snaks(draw: st.DrawFn) -> Snak:
    kind = draw(st.sampled_from(list(SnakKind)))
    return Snak(property=draw(properties), kind=kind, value=draw(values) if kind is SnakKind.VALUE else None)


def grouped(found: list[Snak]) -> tuple[Snak, ...]:
    """Qualifiers in the only order that the dump's format can hold: property by property."""
    order = list(dict.fromkeys(snak.property for snak in found))
    return tuple(sorted(found, key=lambda snak: order.index(snak.property)))


@st.composite
def statements(draw: st.DrawFn, subject: str, prop: str) -> Statement:
    snak = draw(snaks())
    uuid = draw(st.uuids()).urn[9:]
    name = draw(
        st.sampled_from(
            [f"{subject}${uuid.upper()}", f"{subject}${uuid}", f"{subject.lower()}${uuid}", "$", "=x", "Q1$a"]
        )
        | texts.filter(bool)
    )
    return Statement(
        id=name,
        subject=subject,
        property=prop,
        rank=draw(st.sampled_from(list(Rank))),
        kind=snak.kind,
        value=snak.value,
        qualifiers=grouped(draw(st.lists(snaks(), max_size=3))),
        datatype=draw(st.sampled_from([None, "wikibase-item", "new-datatype"])),
    )


@st.composite
def entities(draw: st.DrawFn) -> Entity:
    subject = draw(ids)
    found: list[Statement] = []
    for prop in sorted(draw(st.sets(properties, max_size=3)), key=lambda prop: int(prop[1:])):
        found += draw(st.lists(statements(subject, prop), min_size=1, max_size=3))
    return Entity(
        id=subject,
        labels=draw(st.dictionaries(languages, texts, max_size=3)),
        descriptions=draw(st.dictionaries(languages, texts, max_size=2)),
        aliases=draw(st.dictionaries(languages, st.lists(texts, min_size=1, max_size=3).map(tuple), max_size=2)),
        statements=tuple(found),
        sitelinks=draw(st.integers(0, 3)),
        datatype=draw(st.sampled_from([None, "time"])),
    )
