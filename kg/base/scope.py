"""The selection of entities for a snapshot."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kg.base.model import ENTITY_ID, ITEM_ID, PROPERTY_ID, normalise
from kg.errors import SelectionError

# An id, or the address under which a browser or the query service shows its entity.
_LISTED = re.compile(r"(?:https?://www\.wikidata\.org/(?:entity|wiki)/(?:Property:)?)?([QP][1-9][0-9]{0,17})\Z")


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """The entities named here, together with those within `hops` steps of them along the properties `along`.

    `ids`: items and properties; `also`: further ids, which may be missing from the source without a warning. `names`:
    entities whose label or alias equals one of them, normalised, in the languages of the snapshot. `classes`: entities
    with a P31 value that is one of these classes or a subclass by P279.

    Steps go from subject to value. Deprecated statements are not followed. With nothing named, the snapshot contains
    everything. `excluded`: classes whose instances (of them or of any subclass) are left out, and are not walked
    through, unless they are named by id or name. `hub_limit`: an entity with more values of the properties `along` is
    included, but no step leads on from it. `properties`: a narrowed snapshot also contains the properties that its
    statements and qualifiers use, so that their labels are known. Raises SelectionError for malformed ids, and for
    hops that have no start or no property.
    """

    ids: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    hops: int = 0
    along: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    hub_limit: int | None = None
    properties: bool = True

    def __post_init__(self) -> None:
        _check_ids(self.ids | self.also, ENTITY_ID, "an id is Q or P and a number, as in Q42")
        _check_ids(self.classes, ITEM_ID, "a class is an item, as in Q515")
        _check_ids(self.excluded, ITEM_ID, "a class is an item, as in Q13442814")
        _check_ids(self.along, PROPERTY_ID, "hops go along properties, as in P131")
        if self.hops < 0:
            raise SelectionError(f"hops must be 0 or more, not {self.hops}")
        if self.hops and not self.along:
            raise SelectionError(f"{self.hops} hops along no property; name the properties to follow")
        if self.hub_limit is not None and (self.hub_limit < 1 or not self.hops):
            raise SelectionError(f"a hub limit of {self.hub_limit} needs to be 1 or more, and hops that it limits")
        if self.hops and self.everything:
            raise SelectionError("hops need entities to start from: select by ids, names or classes")

    @property
    def everything(self) -> bool:
        """Whether all entities are selected, except for excluded classes."""
        return not (self.ids or self.also or self.names or self.classes)

    @property
    def needs_survey(self) -> bool:
        """Whether the selected entities are known only after a first reading of the whole source, the survey."""
        return bool(self.classes or self.excluded) or self.hops > 0

    def normalised_names(self) -> frozenset[str]:
        """The names in the form in which they are compared (`normalise`), without empty ones."""
        return frozenset(key for key in map(normalise, self.names) if key)

    def to_json(self) -> dict[str, Any]:
        """The selection for a manifest; long lists as their length and the SHA-256 of their sorted lines."""
        out: dict[str, Any] = {"everything": self.everything}
        for key, values in (("ids", self.ids), ("also", self.also), ("names", self.names)):
            if ordered := sorted(values):
                digest = hashlib.sha256("\n".join(ordered).encode()).hexdigest()
                # The hash tells selections apart; thousands of ids would be most of a manifest.
                listed = {"values": ordered} if len(ordered) <= 50 else {}
                out[key] = {"count": len(ordered), "sha256": digest, **listed}
        if self.classes:
            out["classes"] = sorted(self.classes)
        if self.hops:
            out["hops"] = self.hops
            out["along"] = sorted(self.along)
        if self.excluded:
            out["excluded"] = sorted(self.excluded)
        if self.hub_limit is not None:
            out["hub_limit"] = self.hub_limit
        if not self.everything and not self.properties:
            out["properties"] = False
        return out


def _check_ids(ids: Iterable[str], form: re.Pattern[str], expected: str) -> None:
    for entity_id in sorted(ids):  # sorted, so that of several bad ids the error names the same one each time
        if not form.match(entity_id):
            raise SelectionError(f"{entity_id!r} cannot be selected: {expected}")


def read_ids(path: Path) -> Iterator[str]:
    """The ids in a text file: the first word of each line. Raises SelectionError for another word, or a file without
    ids.
    """
    empty = True
    try:
        text = path.read_text("utf-8-sig")  # spreadsheets write a byte order mark
    except UnicodeDecodeError as error:
        raise SelectionError(f"{path} is no text in UTF-8; expected one id a line, as in Q42") from error
    for number, line in enumerate(text.splitlines(), 1):
        words = re.split(r"[,;\s]+", line.strip(), maxsplit=1)
        if not words[0] or words[0].startswith("#"):
            continue
        match = _LISTED.match(words[0].strip("\"'<>"))
        if match is None:
            raise SelectionError(f"{path}, line {number}: {words[0][:40]!r} is no id; expected one as in Q42")
        empty = False
        yield match[1]
    if empty:
        raise SelectionError(f"{path}: no id in it")
