"""What goes into a snapshot, as it is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from granola.errors import UsageError
from granola.runs.outputs import note, report_rejects, unanswered_line
from granola.runs.settings import Setting

if TYPE_CHECKING:
    from abstraction.files.row_shapes import RowShape
    from abstraction.rows import RejectedRow
    from kg.scope import Scope

_ID = re.compile(r"(?:https?://www\.wikidata\.org/(?:entity|wiki)/(?:Property:)?)?([QP][1-9][0-9]{0,17})\Z")


@dataclass(frozen=True, kw_only=True)
class ScopeSettings:
    """What goes into a snapshot: everything, or the union of what is selected."""

    ids: Annotated[tuple[str, ...], Setting("Select these entities.", metavar="ID,...")] = ()
    ids_from: Annotated[
        tuple[Path, ...], Setting("Select the ids in a text file, the first word of each line.", metavar="FILE")
    ] = ()
    qa: Annotated[
        tuple[Path, ...],
        Setting("Select what the answers and subjects of a QA file may be, by name or id.", metavar="FILE"),
    ] = ()
    instances_of: Annotated[
        tuple[str, ...],
        Setting("Select the instances of these classes and of all classes below them.", metavar="QID,..."),
    ] = ()
    hops: Annotated[int, Setting("Add what so many steps from the selected entities reach.", least=0)] = 0
    along: Annotated[
        tuple[str, ...],
        Setting(
            "The properties that steps follow; 'ladder' stands for those that ladders climb.",
            metavar="PROPERTY,...",
            shown="ladder",
        ),
    ] = ()
    hub_limit: Annotated[
        int | None, Setting("Do not step on from an entity with more than N values of those properties.", least=1)
    ] = None
    exclude_instances_of: Annotated[
        tuple[str, ...],
        Setting(
            "Leave out, and do not step to, instances of these classes and of all below them, such as Q13442814"
            " (scholarly articles). What is named by id or name stays.",
            metavar="QID,...",
        ),
    ] = ()
    complete: Annotated[
        bool,
        Setting(
            "With --qa and --hops: build twice, and select the second time what making the ladders asked the first"
            " selection for: names in descriptions, namesakes, frequent answers.",
            flag="--complete/--no-complete",
        ),
    ] = True
    properties: Annotated[
        bool,
        Setting(
            "Also take the properties that the selected use, for their labels.", flag="--properties/--no-properties"
        ),
    ] = True

    def scope(self, shape: RowShape | None = None) -> tuple[Scope, int]:
        """The scope, and how many rows of QA files, which are of a `shape`, were rejected.

        Raises SelectionError where nothing is selected.
        """
        from abstraction.properties import with_role
        from kg.errors import SelectionError
        from kg.scope import Scope
        from kg.terms import normalise

        chosen = {*words(self.ids), *(entity_id for path in self.ids_from for entity_id in _ids_in(path))}
        names, named, rejected = self._of_questions(shape)
        chosen |= named
        followed = {
            prop
            for word in words(self.along or ("ladder",))
            for prop in (with_role("along") if word == "ladder" else (word,))
        }
        classes = frozenset(words(self.instances_of))
        asked = self.ids or self.ids_from or self.qa or self.instances_of
        if asked and not (chosen or classes or any(map(normalise, names))):
            why = f"; {rejected[0].source}: {rejected[0].reason}" if rejected else ""
            raise SelectionError(
                f"nothing selected: the selection names no entity{why}; leave it out to take everything"
            )
        scope = Scope(
            ids=frozenset(chosen),
            names=frozenset(names),
            classes=classes,
            hops=self.hops,
            along=frozenset(followed) if self.hops else frozenset(),
            excluded=frozenset(words(self.exclude_instances_of)),
            hub_limit=self.hub_limit,
            properties=self.properties,
        )
        return scope, len(rejected)

    def _of_questions(self, shape: RowShape | None) -> tuple[set[str], set[str], list[RejectedRow]]:
        """(names, ids) that the QA files have, and their rejected rows."""
        names: set[str] = set()
        ids: set[str] = set()
        rejected: list[RejectedRow] = []
        if self.qa:
            from abstraction.rows import read_questions

            unanswered: list[RejectedRow] = []
            for row in read_questions(self.qa, on_reject=rejected.append, on_unanswered=unanswered.append, shape=shape):
                names.update(row.answers)
                if row.subject_text:
                    names.add(row.subject_text)
                ids.update(qid for qid in (*row.answer_qids, row.subject_qid) if qid)
            report_rejects("QA files", rejected)
            if unanswered:
                note(f"QA files: {unanswered_line(len(unanswered))}")
        return names, ids, rejected


def words(given: Iterable[str]) -> list[str]:
    """The words of options that take several, by commas or by being repeated."""
    return [word for text in given for word in re.split(r"[,\s]+", text) if word]


def languages_of(given: Iterable[str]) -> list[str] | None:
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
        match = _ID.match(words[0].strip("\"'<>"))
        if match is None:
            raise SelectionError(f"{path}, line {number}: {words[0][:40]!r} is no id; expected one as in Q42")
        empty = False
        yield match[1]
    if empty:
        raise SelectionError(f"{path}: no id in it")
