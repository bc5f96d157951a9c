"""The options that select what goes into a snapshot -> a scope."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from granola.errors import UsageError
from granola.runs.outputs import report_rejects

if TYPE_CHECKING:
    from abstraction.rows import RejectedRow
    from kg.scope import Scope

_ID = re.compile(r"(?:https?://www\.wikidata\.org/(?:entity|wiki)/(?:Property:)?)?([QP][1-9][0-9]{0,17})\Z")


def scope_of(
    ids: list[str],
    ids_from: list[Path],
    qa: list[Path],
    instances_of: list[str],
    hops: int,
    along: list[str],
    *,
    excluded: list[str],
    hub_limit: int | None,
    properties: bool,
) -> tuple[Scope, int]:
    """The scope, and how many rows of QA files were rejected."""
    from abstraction.properties import with_role
    from kg.errors import SelectionError
    from kg.scope import Scope
    from kg.terms import normalise

    chosen = set(words(ids))
    for path in ids_from:
        chosen.update(_ids_in(path))
    names: set[str] = set()
    rejected: list[RejectedRow] = []
    if qa:
        from abstraction.rows import read_questions

        for row in read_questions(qa, on_reject=rejected.append):
            names.update(row.answers)
            if row.subject_text:
                names.add(row.subject_text)
            chosen.update(qid for qid in (*row.answer_qids, row.subject_qid) if qid)
        report_rejects("QA files", rejected)
    followed = {prop for word in words(along) for prop in (with_role("along") if word == "ladder" else (word,))}
    classes = frozenset(words(instances_of))
    if (ids or ids_from or qa or instances_of) and not (chosen or classes or any(map(normalise, names))):
        why = f"; {rejected[0].source}: {rejected[0].reason}" if rejected else ""
        raise SelectionError(f"nothing selected: the selection names no entity{why}; leave it out to take everything")
    scope = Scope(
        ids=frozenset(chosen),
        names=frozenset(names),
        classes=classes,
        hops=hops,
        along=frozenset(followed) if hops else frozenset(),
        excluded=frozenset(words(excluded)),
        hub_limit=hub_limit,
        properties=properties,
    )
    return scope, len(rejected)


def words(given: list[str]) -> list[str]:
    """The words of options that take several, by commas or by being repeated."""
    return [word for text in given for word in re.split(r"[,\s]+", text) if word]


def languages_of(given: list[str]) -> list[str] | None:
    """The codes of `--languages`, None for all. Raises UsageError where there is none: nothing would have a name."""
    codes = words(given)
    if not codes:
        raise UsageError("--languages names no language; give codes as in en,de, or all")
    return None if "all" in codes else codes


def _ids_in(path: Path) -> Iterator[str]:
    from kg.errors import SelectionError

    empty = True
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SelectionError(f"{path} is no text in UTF-8; expected one id a line, as in Q42") from error
    for number, line in enumerate(text.splitlines(), 1):
        words = re.split(r"[,;\s]+", line.strip(), maxsplit=1)
        if not words[0] or words[0].startswith("#"):
            continue
        found = _ID.match(words[0].strip("\"'<>"))
        if found is None:
            raise SelectionError(f"{path}, line {number}: {words[0][:40]!r} is no id; expected one as in Q42")
        empty = False
        yield found[1]
    if empty:
        raise SelectionError(f"{path}: no id in it")
