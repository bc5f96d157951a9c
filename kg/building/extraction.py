"""A block of a dump -> what a snapshot takes from it. Pure: it may be done anywhere, in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from kg.base.model import number_of
from kg.base.terms import normalise
from kg.building.id_sets import IdSet, key_of
from kg.building.typed_rows import TypedRowMaker
from kg.reading.dump import Block, lines_of, parse
from kg.reading.entity_json import (
    HEAD,
    Pieces,
    Reject,
    by_language,
    entity_decoder,
    number_of_entity,
    sketch_decoder,
)
from kg.reading.snaks import Unreadable
from kg.store.filling import digest_bytes, digest_of


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractionPlan:
    """Which entities and counts to extract.

    `chosen` and `keys` (normalised names) select entities; `everything` selects all that are not excluded.
    `properties`: extract every property entity too. `counted`: the properties all of whose values are counted, whether
    the subject is selected or not. `along`: in a survey, which extracts nothing else, the properties whose edges are
    collected.
    """

    languages: frozenset[str] | None = None
    everything: bool = False
    chosen: IdSet = field(default_factory=IdSet)
    excluded: IdSet = field(default_factory=IdSet)
    keys: frozenset[str] = frozenset()
    properties: bool = False
    along: frozenset[int] = frozenset()
    counted: frozenset[int] = frozenset()


class BlockRows(msgspec.Struct, array_like=True, gc=False):
    """The rows and counts extracted from a block.

    `numbers`: every item and property, in order; `kept` lists for each whether it is selected. `records` and `names`:
    for each selected entity its rows (see `kg.store.entity_rows.record_of`) and the rows of its names. `tallies`: for
    each other entity the keys to count it under (see `kg.building.id_sets.key_of`). `digest`: the sum of the
    records' digests. `entities`: the number of objects read, of all kinds. In a survey: `edges` as (property, subject,
    value), and `named`, the entities that have one of the names.
    """

    entities: int = 0
    numbers: list[Any] = []
    kept: list[Any] = []
    records: list[Any] = []
    names: list[Any] = []
    tallies: list[Any] = []
    rejects: list[Reject] = []
    heard: list[Any] = []
    redirects: list[Any] = []
    digest: bytes = b""
    edges: list[Any] = []
    named: list[Any] = []


def reader(recipe: ExtractionPlan) -> Callable[..., bytes]:
    """The function that workers apply to a block; see `Extractor.read`."""
    read, encode = Extractor(recipe).read, msgspec.msgpack.Encoder().encode
    return lambda *given: encode(read(*given))


_REFUSED = (msgspec.DecodeError, Unreadable, UnicodeDecodeError, RecursionError)  # these are then read in pieces


class Extractor:
    """Reads blocks by one recipe."""

    def __init__(self, recipe: ExtractionPlan) -> None:
        self._recipe = recipe
        self._named = bool(recipe.keys)
        self._whole = entity_decoder(recipe.languages)
        self._sketch = sketch_decoder(recipe.languages, named=self._named)
        self._rows = TypedRowMaker()
        self._pieces = Pieces(recipe.languages, self._rows.check)
        self._encode = msgspec.msgpack.Encoder().encode

    def read(self, block: Block, limit: int | None = None) -> BlockRows:
        """The rows of selected entities and the counts of the others, or the edges and names that a survey collects."""
        batch = BlockRows(
            numbers=[], kept=[], records=[], names=[], tallies=[], rejects=[], redirects=[], edges=[], named=[]
        )
        heard: set[str] = set()
        digests = 0
        for line, text in lines_of(block):
            if batch.entities == limit:
                break
            try:
                digests += self._line(text, batch, heard)
                batch.entities += 1
            except _REFUSED:
                for at, parsed in parse(Block(line=line, data=text, single=True)):
                    if batch.entities == limit:
                        break
                    digests += self._in_pieces(at, parsed, batch, heard)
        batch.heard = sorted(heard)
        batch.digest = digest_bytes(digests)
        return batch

    def _line(self, text: bytes, batch: BlockRows, heard: set[str]) -> int:
        """Add one entity, and return its digest. Raises one of _REFUSED, with nothing added."""
        recipe = self._recipe
        if not recipe.everything or recipe.excluded:
            head = None if self._named or recipe.along else HEAD.match(text)
            number = None if head is None else number_of(head[1].decode())
            if number is None or not self._picks(number):
                sketch = self._sketch(text)
                number = _number(sketch)
                picked = self._picks(number)
                named = self._named and not picked and self._is_named(_texts(sketch))
                if recipe.along or not (picked or named):
                    return self._passed_over(batch, number, list(self._rows.edges(sketch.claims)), named)
        entity = self._whole(text)
        number = _number(entity)
        record, names = self._rows.record(entity, number, heard)
        if entity.redirects is not UNSET and (merged := number_of(entity.redirects.source)) not in (None, number):
            batch.redirects.append((merged, number))
        encoded = self._encode(record)
        batch.numbers.append(number)
        batch.kept.append(True)
        batch.records.append(msgspec.Raw(encoded))
        batch.names.append(names)
        return digest_of(encoded)

    def _in_pieces(self, line: int, parsed: Any, batch: BlockRows, heard: set[str]) -> int:
        """Add the readable parts of an entity, and its unreadable parts as rejects."""
        if isinstance(parsed, Reject):
            batch.rejects.append(replace(parsed, line=line))
            return 0
        batch.entities += 1
        text, rejects = self._pieces.readable(parsed)
        digest = self._line(text, batch, heard) if text is not None else 0
        if text is None or (batch.kept and batch.kept[-1]):  # rejects only of selected entities
            batch.rejects += [replace(reject, line=line) for reject in rejects]
        return digest

    def _picks(self, number: int) -> bool:
        recipe = self._recipe
        if number in recipe.excluded:
            return False
        return recipe.everything or number in recipe.chosen or (recipe.properties and number < 0)

    def _is_named(self, texts: Iterator[str]) -> bool:
        keys = self._recipe.keys
        return any(normalise(text) in keys for text in texts)

    def _passed_over(self, batch: BlockRows, number: int, pairs: list[tuple[int, int | None]], named: bool) -> int:
        if along := self._recipe.along:
            batch.edges += [(prop, number, value) for prop, value in pairs if value is not None and prop in along]
            batch.named += [number] * named
            return 0
        keys = set()
        counted = self._recipe.counted
        for prop, value in pairs:
            keys.add(key_of(prop))
            # Counts are kept of values that are in the snapshot; by name it may turn out late who is.
            if value is not None and (self._named or prop in counted or self._picks(value)):
                keys.add(key_of(prop, value))
        batch.numbers.append(number)
        batch.kept.append(False)
        batch.tallies.append(list(keys))
        return 0


def _number(entity: Any) -> int:
    return number_of_entity(entity.id, entity.type, missing=entity.missing is not UNSET)


def _texts(sketch: Any) -> Iterator[str]:
    for _, term in by_language(sketch.labels):
        yield term.value
    for _, terms in by_language(sketch.aliases):
        yield from (term.value for term in terms)
