"""Small worlds for tests: a few entities in a real store, written in one line each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from abstraction.files.rows import QARow, TieredRow
from abstraction.maker.pipeline import LadderMaker
from kg.base.model import Entity, EntityValue, Rank, Snak, Statement, TextValue, TimeValue
from kg.store.sqlite import SQLiteStore

Said = str | tuple[str, dict[str, object]]


def entity(
    qid: str,
    label: str,
    description: str = "",
    *,
    aliases: Sequence[str] = (),
    sitelinks: int = 0,
    **said: Said | Sequence[Said],
) -> Entity:
    """`P131=["Q1", ("Q2", {"end": 1990, "rank": "preferred"})]`; a year alone is a year."""
    statements: list[Statement] = []
    for prop, values in said.items():
        listed = values if isinstance(values, list) else [values]
        for value in listed:
            target, extra = value if isinstance(value, tuple) else (value, {})
            qualifiers = [
                Snak(property=name, value=TimeValue(year=int(str(extra[key])), precision=9))
                for key, name in (("start", "P580"), ("end", "P582"))
                if key in extra
            ]
            number = len(statements) + 1
            statements.append(
                Statement(
                    id=f"{qid}$s{number}",
                    subject=qid,
                    property=prop,
                    rank=Rank(str(extra.get("rank", "normal"))),
                    value=_value(target),
                    qualifiers=tuple(qualifiers),
                )
            )
    return Entity(
        id=qid,
        labels={"en": label},
        descriptions={"en": description} if description else {},
        aliases={"en": tuple(aliases)} if aliases else {},
        statements=tuple(statements),
        sitelinks=sitelinks,
    )


def _value(target: object) -> EntityValue | TimeValue | TextValue:
    if isinstance(target, int):
        return TimeValue(year=target, precision=9)
    text = str(target)
    if text[:1] == "Q" and text[1:].isdigit():
        return EntityValue(id=text)
    return TextValue(text=text, language="en")


# Classes that most worlds need.
CLASSES = (
    entity("Q5", "human"),
    entity("Q515", "city", P279="Q486972"),
    entity("Q486972", "human settlement"),
    entity("Q3624078", "sovereign state"),
    entity("Q6256", "country"),
    entity("Q5107", "continent"),
    entity("Q35657", "state of the United States", P279="Q10864048"),
    entity("Q47168", "county of the United States"),
    entity("Q10864048", "first-level administrative country subdivision"),
    entity("Q28640", "profession"),
    entity("Q188451", "music genre"),
    entity("Q34770", "language"),
    entity("Q25295", "language family"),
    entity("Q1781513", "position"),
    entity("Q3918", "university", P279="Q2385804"),
    entity("Q2385804", "educational institution"),
    entity("Q3024240", "historical country"),
    entity("Q476028", "association football club"),
    entity("Q11424", "film"),
)


def store_of(*entities: Entity) -> SQLiteStore:
    """A store in memory with the common classes and these entities."""
    return SQLiteStore.create(":memory:", [*CLASSES, *entities])


def snapshot_at(path: Path | str, entities: Iterable[Entity]) -> Path:
    """A snapshot file with these entities."""
    SQLiteStore.create(path, entities).close()
    return Path(path)


def maker(*entities: Entity) -> LadderMaker:
    """A ladder maker over such a store."""
    return LadderMaker(store_of(*entities))


def row(
    answer: str | Sequence[str],
    relation: str | None = "P19",
    *,
    qid: str | None = None,
    question: str = "Where was the person of interest born?",
    subject: str | None = None,
    subject_qid: str | None = None,
    extra: Mapping[str, object] | None = None,
) -> QARow:
    """A question row; `qid` is the first answer's."""
    answers = (answer,) if isinstance(answer, str) else tuple(answer)
    return QARow(
        id="t-1",
        question=question,
        answers=answers,
        answer_qids=(qid, *[None] * (len(answers) - 1)),
        relation=relation,
        subject_text=subject,
        subject_qid=subject_qid,
        extra=extra or {},
    )


def texts(tiered: TieredRow) -> list[list[str]]:
    """The tiers beyond the answer, level by level."""
    return [[tier.text for tier in level.tiers] for level in tiered.levels[1:]]
