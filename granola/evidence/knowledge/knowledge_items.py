"""Items to judge: a knowledge text with the query that it should help with; and files of such items.

JSONL, CSV or Parquet of the user's own, or CONNER's four columns separated by tabs: topic, query, knowledge, response,
one item per line; turns of a dialogue are separated by [SEP].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field

from abstraction.base.faults import OnReject, RejectedRow
from abstraction.errors import RowError
from abstraction.files.records import Record, open_for_reading, read_records
from abstraction.files.row_models import NeededId, RowModel, read_each, without_rejected

COLUMNS_ENDINGS = (".txt", ".tsv")  # endings of files with CONNER's four columns
TURN = "[SEP]"  # separator of turns in CONNER's files


def _as_tuple(value: object) -> object:
    """One text or several as a tuple, without empty ones; other values unchanged, for pydantic to refuse."""
    several = [value] if isinstance(value, str) else value or []
    if not isinstance(several, list | tuple) or not all(isinstance(text, str) for text in several):
        return value
    return tuple(text for text in several if text.strip())


Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]


class KnowledgeItem(RowModel):
    """One knowledge text with its query; further fields of its row are kept. Chen et al. 2023, section 3: query q,
    knowledge k.

    `answer` is a model's answer from the knowledge, `gold` the right answers, `reference` the right knowledge,
    `evidence` passages found for the item, `context` the turns of a dialogue before the query. `system` names the
    author of the text, `candidate` its number among several for one id, from 0. `views`: popularity of the topic, as
    page views or another count; None where unknown. `read_from` is the item's place in its file.
    """

    model_config = ConfigDict(extra="allow")

    id: NeededId = Field(description="a text")
    query: NeededId = Field(validation_alias=AliasChoices("query", "question"), description="a text")
    knowledge: Text = ""
    topic: Text = ""
    answer: Text = ""
    reference: Text = ""
    system: Text = ""
    gold: Texts = ()
    evidence: Texts = ()
    context: Texts = ()
    candidate: Annotated[int, Field(ge=0, strict=True)] = 0
    views: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None
    read_from: str = Field(default="", exclude=True)

    def to_json(self) -> dict[str, Any]:
        """The item as a JSON object without empty fields except `knowledge`."""
        return {**self.model_dump(mode="json", exclude_defaults=True), "knowledge": self.knowledge}


def read_items(path: Path | str, *, on_reject: OnReject, limit: int | None = None) -> Iterator[KnowledgeItem]:
    """The items of a file, in order; damaged rows, and a repeated system, id and candidate, go to `on_reject`.

    Raises RowError for a file that cannot be read as a whole.
    """
    has_columns = str(path).removesuffix(".gz").endswith(COLUMNS_ENDINGS)
    records: Iterable[Record | RejectedRow] = _read_lines(path) if has_columns else read_records(path)
    once = read_each(
        records, _parse_columns if has_columns else parse_item,
        name=lambda item: f"{item.id} of system {item.system or '(none)'}, candidate {item.candidate}",
    )  # fmt: skip
    yield from islice(without_rejected(once, on_reject), limit)


def parse_item(record: Record) -> KnowledgeItem:
    """The item of a JSON object; "question" is read as "query". Raises RowError with the reason."""
    handed_on = record.data.keys() - {"schema_version", "question" if "query" in record.data else ""}
    data = {name: value for name, value in record.data.items() if name in handed_on}
    item = KnowledgeItem.of(Record(source=record.source, data=data))
    return item.model_copy(update={"read_from": record.source})


def _read_lines(path: Path | str) -> Iterator[Record]:
    try:
        with open_for_reading(path) as stream:
            for number, line in enumerate(stream, 1):
                # Bytes, as CONNER's files contain quotes that CSV readers would interpret.
                yield Record(source=f"{path}:{number}", data={"line": line.rstrip(b"\r\n")})
    except EOFError as error:
        raise RowError(f"{path} is no whole gzip file: {error}") from error


def _parse_columns(record: Record) -> KnowledgeItem:
    cells = record.data["line"].decode("utf-8", errors="replace").split("\t")
    if len(cells) != 4:
        raise RowError(f"{len(cells)} columns; four are needed: topic, query, knowledge, response, parted by tabs")
    topic, asked, knowledge, response = (cell.strip() for cell in cells)
    turns = [turn.strip() for turn in asked.split(TURN) if turn.strip()]
    if not turns:
        raise RowError("no query in the second column")
    return KnowledgeItem(
        # CONNER's files have no ids: the number of the line is one.
        id=record.source.rpartition(":")[2], topic=topic, query=turns[-1], context=tuple(turns[:-1]),
        knowledge=knowledge, reference=knowledge, gold=(response,) if response else (), read_from=record.source,
    )  # fmt: skip
