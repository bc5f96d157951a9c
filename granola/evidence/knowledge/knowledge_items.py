"""Items to judge, a knowledge text with the query that it should help with, read from files; and evidence for them.

Items are in JSONL, CSV or Parquet, or in CONNER's four columns separated by tabs: topic, query, knowledge, response,
one item per line; turns of a dialogue are separated by [SEP]. Evidence is the item's own, or found in passages. The
settings of judges are here, apart from the judge, so that commands can list them without loading it.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, ConfigDict, Field

from abstraction.base.faults import OnReject, RejectedRow
from abstraction.errors import RowError
from abstraction.files.records import Record, open_for_reading, read_records
from abstraction.files.row_models import NeededId, RowModel, read_each, without_rejected
from abstraction.models.text_scorers import EmbeddedText, EmbeddingModel
from granola.base.settings import Setting
from granola.errors import UsageError
from kg.base.packages import install_hint

COLUMNS_ENDINGS = (".txt", ".tsv")  # endings of files with CONNER's four columns
TURN = "[SEP]"  # separator of turns in CONNER's files


def _nonempty_texts_as_tuple(value: object) -> object:
    """One text or several as a tuple, without empty ones; other values unchanged, for pydantic to refuse."""
    several = [value] if isinstance(value, str) else value or []
    if not isinstance(several, list | tuple) or not all(isinstance(text, str) for text in several):
        return value
    return tuple(text for text in several if text.strip())


Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_nonempty_texts_as_tuple)]


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

    @property
    def reference_or_own_knowledge(self) -> str:
        """The reference, which is the right knowledge, or the item's own text where there is none."""
        return self.reference or self.knowledge

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
        records, _parse_columns if has_columns else parse_json_item,
        name=lambda item: f"{item.id} of system {item.system or '(none)'}, candidate {item.candidate}",
    )  # fmt: skip
    yield from islice(without_rejected(once, on_reject), limit)


def parse_json_item(record: Record) -> KnowledgeItem:
    """The item of a JSON object; "question" is read as "query". Raises RowError with the reason."""
    handed_on = record.data.keys() - {"schema_version", "question" if "query" in record.data else ""}
    data = {name: value for name, value in record.data.items() if name in handed_on}
    item = KnowledgeItem.of(Record(source=record.source, data=data))
    return item.model_copy(update={"read_from": record.source})


def _read_lines(path: Path | str) -> Iterator[Record]:
    try:
        with open_for_reading(path) as stream:
            for number, line in enumerate(stream, 1):
                # Bytes, because CONNER's files contain quotes that CSV readers would interpret.
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


class _Passage(RowModel):
    text: str = Field(description="a text")
    title: str | None = None


def read_passages(path: Path | str) -> list[str]:
    """The passages of a file: the "text" of each record, after its "title" where it has one; in a .txt file one per
    line.

    Empty ones are left out. Raises RowError for a record without a text, and for a file without any passage.
    """
    if str(path).endswith(".txt"):
        texts = [line.strip() for line in Path(path).read_text(encoding="utf-8").splitlines()]
    else:
        rows = without_rejected(read_each(read_records(path), _Passage.of), None)
        texts = [f"{row.title}. {row.text}" if row.title else row.text for row in rows]
    if not any(texts):
        raise RowError(f"{path}: no passage in it")
    return [text for text in texts if text.strip()]


def _sha256(texts: Sequence[str]) -> str:
    """The hex SHA-256 of all passages, in order."""
    # A separator that no text contains: ["ab"] and ["a", "b"] must differ.
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


class WordIndex:
    """Finds passages by their words: BM25 (Robertson and Zaragoza 2009) as implemented in `bm25s`, with k1 1.5 and b
    0.75.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        """Raises UsageError where bm25s is missing."""
        try:
            import bm25s
        except ImportError as error:
            raise UsageError(f"passages found by words need bm25s: {install_hint('evidence')}") from error
        self._texts = texts
        self.identity: Mapping[str, Any] = {"kind": "bm25", "passages": _sha256(texts)}
        self._words: Any = bm25s.tokenization.Tokenizer(stopwords="en")
        self._index: Any = bm25s.BM25(k1=1.5, b=0.75)
        logging.getLogger("bm25s").setLevel(logging.ERROR)
        self._index.index(self._words.tokenize(texts, show_progress=False), show_progress=False)

    def find_pieces(self, sentences: Sequence[str], most: int) -> list[list[str]]:
        """For each sentence up to `most` passages, best first, that share a word with it."""
        pieces: list[list[str]] = [[] for _ in sentences]
        asked = self._words.tokenize(list(sentences), update_vocab=False, show_progress=False) if sentences else []
        # bm25s cannot search for a sentence whose words occur in no passage.
        known = [at for at, words in enumerate(asked) if len(words)]
        if known:
            most = min(most, len(self._texts))
            places, scores = self._index.retrieve([asked[at] for at in known], k=most, show_progress=False)
            for at, own, score in zip(known, places.tolist(), scores.tolist(), strict=True):
                # Equal scores by place, so that a tie gives the same pieces everywhere.
                ranked = sorted((-one, place) for one, place in zip(score, own, strict=True) if one > 0)
                pieces[at] = [self._texts[place] for _, place in ranked]
        return pieces


class VectorIndex:
    """Finds passages by the cosine of their vectors, compared with every passage."""

    def __init__(self, texts: Sequence[str], model: EmbeddingModel) -> None:
        import numpy as np

        self._texts, self._model = texts, model
        identity = {"kind": "vectors", "passages": _sha256(texts), "model": dict(model.identity)}
        self.identity: Mapping[str, Any] = identity
        self._vectors = np.array(model.scores([EmbeddedText(text) for text in texts]), dtype=np.float32)

    def find_pieces(self, sentences: Sequence[str], most: int) -> list[list[str]]:
        """For each sentence the `most` nearest passages, nearest first; no distance is too great."""
        import numpy as np

        if not sentences:
            return []
        vectors = self._model.scores([EmbeddedText(sentence, query=True) for sentence in sentences])
        near = np.array(vectors, dtype=np.float32) @ self._vectors.T
        # A stable sort keeps ties in the order of the file.
        order = np.argsort(-near, axis=1, kind="stable")[:, :most]
        return [[self._texts[place] for place in row] for row in order.tolist()]


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemPieces:
    """All evidence for an item: with `reference` the right knowledge, then its own `evidence`, then pieces from
    `sources`.
    """

    reference: bool = False
    sources: tuple[WordIndex | VectorIndex, ...] = ()

    @property
    def identity(self) -> Mapping[str, Any]:
        """Whether the reference is a piece, and the identities of the sources."""
        own = {"kind": "own", "reference": self.reference}
        return own if not self.sources else own | {"sources": [dict(one.identity) for one in self.sources]}

    def find_pieces(self, item: KnowledgeItem, sentences: Sequence[str], most: int) -> list[list[str]]:
        """For each sentence up to `most` pieces, each once, in the order of the class."""
        references = [item.reference] if self.reference and item.reference.strip() else []
        found = [source.find_pieces(sentences, most) for source in self.sources]
        return [
            list(dict.fromkeys([*references, *item.evidence, *(piece for own in found for piece in own[at])]))[:most]
            for at in range(len(sentences))
        ]


class AnswerForm(StrEnum):
    """How validity is judged: short answers (span) by the gold answer, open ones by evidence."""

    SPAN = "span"
    OPEN = "open"


class Aggregation(StrEnum):
    """How the vector of a text is formed from those of its sentences."""

    MIN = "min"
    MEAN = "mean"
    MAX = "max"


@dataclass(frozen=True, kw_only=True)
class JudgeSettings:
    """Settings of the scores."""

    pieces: Annotated[int, Setting("Pieces of evidence for a sentence, at most.", least=1, advanced=True)] = 10
    aggregation: Annotated[Aggregation, Setting("How the sentences make the text's vector.", advanced=True)] = (
        Aggregation.MIN
    )
    validity: Annotated[
        AnswerForm, Setting("Answers are judged by the gold answer, or by evidence.", advanced=True)
    ] = AnswerForm.SPAN
    randoms: Annotated[
        int, Setting("Random texts that helpfulness compares with (u; the authors: 1).", least=1, advanced=True)
    ] = 4
    perplexity_cut: Annotated[
        float | None,
        Setting("No perplexity of a sentence counts as greater (the authors: 100; the paper has no cut).", least=1,
                advanced=True),
    ] = None  # fmt: skip
    baselines: Annotated[
        bool, Setting("Score the baselines too, where there is a reference or a gold answer.", advanced=True)
    ] = False
