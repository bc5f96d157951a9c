"""The pydantic types of requests, from which the OpenAPI document is made, and the reading of their JSON.

Questions, tiers and predictions have the form of files and are read by the same code; further fields are passed on.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from abstraction.base.faults import RejectedRow, excerpt, repr_excerpt
from abstraction.base.tiers import Level, Tier
from abstraction.errors import RowError
from abstraction.files.records import Record, record_of_line
from abstraction.files.rows import QARow, question_rows
from abstraction.files.rows import TieredRow as Row
from abstraction.text.language.languages import is_supported_language, supported_languages_text
from granola.decoding import decision
from granola.decoding.samples import SampleRow, sample_row
from granola.matching import Matcher, matcher
from granola.matching.matchers import MATCHERS
from granola.scoring import shared_settings
from granola.scoring.metrics import Standard
from granola.scoring.statistics import LEAST_RESAMPLES, MOST_RESAMPLES
from granola.service import limits
from granola.service.problems import HTTPProblem, problem_of_errors, too_many_problem

if TYPE_CHECKING:
    MatcherName = str
else:
    MatcherName = Literal[tuple(name for name in MATCHERS if name != "judge")]  # the judge is left out: it asks a model

M = TypeVar("M", bound=BaseModel)


def read_body(body: bytes, kind: type[M]) -> M:
    """Parse and validate a body. Raises HTTPProblem that names the wrong field."""
    data = _read_json(body)
    if fault := reason_not_writable(data):
        raise HTTPProblem(400, "json", fault)
    if not isinstance(data, dict):
        raise HTTPProblem(422, "request", "the body is no JSON object")
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise problem_of_errors(error.errors(include_url=False)) from None


def _read_json(body: bytes) -> Any:
    if len(body) > limits.MOST_VALUES and body.count(b",") + body.count(b"[") + body.count(b"{") > limits.MOST_VALUES:
        detail = f"the JSON has more than {limits.MOST_VALUES:,} values; send several requests"
        raise too_many_problem("too-many-values", detail, limits.MOST_VALUES)
    try:
        return json.loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise HTTPProblem(400, "json", "the body is no text in UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise HTTPProblem(400, "json", f"the body is no JSON: {error}") from None


def reason_not_writable(data: Any) -> str:
    """The reason why parsed JSON cannot be written again in a response; empty where it can.

    Halves of surrogate pairs are no text, and lists and objects may be nested some hundred levels deep.
    """
    try:
        orjson.dumps([[[[data]]]])  # a response nests the sent data four levels deep
        return ""
    except orjson.JSONEncodeError as error:
        fault = str(error)
    if fault.startswith("Integer"):  # orjson refuses integers of more than 64 bits; json writes them
        try:
            json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
            return ""
        except (ValueError, RecursionError) as error:
            fault = str(error)
    return f"the JSON cannot be written again: {fault}"


def read_batch(body: bytes, *, relation: str | None, most: int) -> list[QARow | RejectedRow]:
    """The questions of a batch, a JSON array or JSONL, with rejected ones in their places.

    Raises RowError where there is none, and HTTPProblem for more than `most` rows, or for too many answers or
    relations for the size of the body.
    """
    rows: list[QARow | RejectedRow] = []
    for row in question_rows(map(_reject_too_large, _batch_records(body)), relation=relation):
        rows.append(row)
        limits.check_rows(len(rows), most)
    if not rows:
        raise RowError("request holds no row; expected a JSON array, or one JSON object a line")
    asked = [row for row in rows if isinstance(row, QARow)]
    limits.check_batch(sum(len(row.answers) for row in asked), len({row.relation for row in asked}), len(body))
    return rows


def _batch_records(body: bytes) -> Iterator[Record | RejectedRow]:
    """The records of a JSON array, with places from "request[1]", or of JSONL, with places from "request:1"."""
    body = body.removeprefix(b"\xef\xbb\xbf")
    if body.lstrip()[:1] == b"[":
        for number, data in enumerate(_read_json(body), 1):
            source = f"request[{number}]"
            if isinstance(data, dict):
                yield Record(source=source, data=data)
            else:
                yield RejectedRow(source=source, reason="no JSON object", excerpt=repr_excerpt(data))
        return
    for number, raw in enumerate(io.BytesIO(body), 1):
        source, line = f"request:{number}", raw.strip()
        if len(line) > limits.SMALL:
            reason = f"longer than {limits.SMALL:,} bytes, the most that one record may have; split it or leave it out"
            yield RejectedRow(source=source, reason=reason, excerpt=excerpt(line))
        elif line:
            yield record_of_line(line, source)


def _reject_too_large(record: Record | RejectedRow) -> Record | RejectedRow:
    """The record, rejected where it exceeds the limits of a single question, or cannot be written again."""
    if isinstance(record, RejectedRow):
        return record
    if not (fault := reason_not_writable(record.data)):
        try:
            limits.check_row(record.data)
            return record
        except RowError as error:
            fault = str(error)
    return RejectedRow(source=record.source, reason=fault, excerpt=repr_excerpt(dict(islice(record.data.items(), 5))))


Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{1,8}){0,3}$")]
Text = Annotated[str, StringConstraints(max_length=limits.LONGEST)]
Names = Annotated[list[Text], Field(min_length=1, max_length=limits.MOST_NAMES)]
PromptsHash = Annotated[str, StringConstraints(pattern=r"^([a-z+]{1,40}-)?[0-9a-f]{8,64}$")]


def _field_like_setting(setting: Any, default: Any, **more: Any) -> Any:
    """A pydantic field with the help text of a setting of the command line."""
    return Field(default, **{"description": get_args(setting)[1].help, **more})


_SETTINGS = {"language", "linker", "method", "support", "counting", "abstaining"}  # are no fields of a row
_OF_A_MODEL = {"phrase", "phrase_mode", "unproven", "aggregator"}


class _RowRequest(BaseModel):
    """A question with the fields of a row; the reader of rows reports wrong ones. Others come back with the row."""

    model_config = ConfigDict(extra="allow")

    id: Any = Field(None, description="A text or a whole number.")
    question: Any = Field(description="A text.", examples=["Where was Barack Obama born?"])
    relation: Any = Field(None, description="Property id, as P19; found from the wording where possible.")
    question_entity: Any = Field(None, description='The entity asked about: its name, or {"text", "qid"}.')
    question_entity_qid: Any = Field(None, description="Its id alone.")

    def sent_fields(self) -> dict[str, Any]:
        """The fields of the row as they were sent. Raises HTTPProblem for fields that need a model, since the service
        has none.
        """
        data = self.model_dump(exclude_unset=True, exclude=type(self).__annotations__.keys() & _SETTINGS)
        if asked := sorted(_OF_A_MODEL & data.keys()):
            detail = f"{', '.join(asked)} is not served: this service asks no model; the command line does"
            raise HTTPProblem(422, "request", detail)
        return data


class LadderRequest(_RowRequest):
    """A question with its gold answer, the language of names and tiers, and how the answer finds its entity."""

    answer: Any = Field(None, description="A text, or a list of equal ones; also as `answers`.", examples=["Honolulu"])
    answer_qid: Any = Field(None, description="The answer's item, as Q18094; linked by name if left out.")
    language: Language = _field_like_setting(shared_settings.Language, "en")
    linker: shared_settings.LinkerName = _field_like_setting(shared_settings.Linker, "question")

    @cached_property
    def row(self) -> QARow:
        """The question as a row. Raises RowError, and HTTPProblem where a text or list is too long."""
        data = self.sent_fields()
        limits.check_row(data)
        row = next(question_rows([Record(source="the request", data=data)]))
        if isinstance(row, RejectedRow):
            raise RowError(row.reason)
        limits.check_text_length(row.answers, "answers")
        return row


class AggregateRequest(_RowRequest):
    """A question with several responses to it, and the settings of `granola aggregate`."""

    samples: list[Text] = Field(min_length=1, max_length=limits.MOST_SAMPLES, examples=[["Honolulu", "in Hawaii"]])
    method: Literal["drag-graph", "self-consistency"] = "drag-graph"
    support: float = Field(
        decision.SUPPORT,
        gt=0,
        le=1,
        description="drag-graph: the share that entails the answer, of responses that do not decline.",
    )
    counting: Literal["text", "alias", "ladder"] = _field_like_setting(decision.CountedAs, "text")
    abstaining: Literal["ignore", "vote", "against"] | None = _field_like_setting(decision.AbstainingRule, None)
    language: Language = _field_like_setting(decision.ResponseLanguage, "en")
    linker: shared_settings.LinkerName = _field_like_setting(shared_settings.Linker, "question")

    @cached_property
    def row(self) -> SampleRow:
        """The question with its responses. Raises RowError, and HTTPProblem for too many characters."""
        data = self.sent_fields()
        limits.check_row(data)
        again = [str(self.question)] * (2 * len(self.samples))  # the question is read twice with each sample
        limits.check_text_length([*self.samples, *again], "samples and of the question, twice with each")
        return sample_row(Record(source="the request", data={**data, "id": data.get("id") or "1"}))


class _Levels(BaseModel):
    levels: list[Level] = Field(min_length=1)


def _check_levels(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row unchanged after validating its levels."""
    _Levels.model_validate(row)
    return row


SentRow = Annotated[
    dict[str, Any], Field(description="A row as `granola tiers` writes it."), AfterValidator(_check_levels)
]


class MatchSettings(BaseModel):
    """The matcher, and the weights of levels."""

    model_config = ConfigDict(extra="forbid")

    matcher: MatcherName = "rules"
    tau: float | None = _field_like_setting(shared_settings.Tau, None, ge=0, lt=1)
    lambda_: float = _field_like_setting(shared_settings.Lambda, 0.5, ge=0, le=1_000, alias="lambda")
    raw: bool = _field_like_setting(shared_settings.Raw, False)

    def make_matcher(self, language: str) -> Matcher:
        """The matcher of these settings. Raises HTTPProblem for an unsupported language, as `granola match` does."""
        if not is_supported_language(language):
            allowed = f"answers are read in {supported_languages_text()}, or a kind as de-at"
            raise HTTPProblem(422, "language", f"language is {language!r}; {allowed}")
        return matcher(self.matcher, tau=self.tau, language=language, raw=self.raw)


class MatchRequest(MatchSettings):
    """Predictions to compare with levels: those of a tiered row, or names alone, finest level first."""

    predictions: list[Text] = Field(min_length=1, max_length=limits.MOST_PREDICTIONS, examples=[["in Hawaii", "Kenya"]])
    row: SentRow | None = None
    levels: Annotated[list[Names], Field(min_length=1, max_length=limits.MOST_LEVELS)] | None = Field(
        None, examples=[[["Honolulu"], ["Hawaii"]]]
    )
    question: Text | None = None
    language: Language = "en"

    @cached_property
    def tiered_row(self) -> Row:
        """The row with the levels to compare predictions with. Raises RowError, and HTTPProblem unless exactly one of
        `row` and `levels` is given.
        """
        if (self.row is None) == (self.levels is None):
            raise HTTPProblem(422, "request", "give either a tiered row or levels")
        if self.row is not None:
            return Row.from_json(self.row)
        levels = self.levels or []
        made = (Level(tiers=(Tier(text=names[0], aliases=tuple(names[1:])),)) for names in levels)
        return Row(id="1", question=self.question or "", answers=tuple(levels[0]), levels=tuple(made))


class ScoreRequest(MatchSettings):
    """Tiered rows and predictions in the form of their files, and the settings of `granola score`."""

    rows: list[Any] = Field(
        min_length=1,
        description="Tiered rows, as `granola tiers` writes them.",
        examples=[[{"id": "1", "question": "Where?", "answer": ["Honolulu"], "levels": [["Honolulu"], ["Hawaii"]]}]],
    )
    predictions: list[Any] = Field(
        min_length=1, description='{"id", "prediction"} each.', examples=[[{"id": "1", "prediction": "in Hawaii"}]]
    )
    system: Annotated[str, StringConstraints(min_length=1, max_length=200)] = "predictions"
    resamples: int = _field_like_setting(shared_settings.Resamples, 1000, ge=LEAST_RESAMPLES, le=MOST_RESAMPLES)
    seed: int = _field_like_setting(shared_settings.Seed, 0, ge=0, le=(1 << 31) - 1)
    allow_missing: bool = _field_like_setting(shared_settings.AllowMissing, False)
    snapshot: str | None = Field(
        None, max_length=100, description="Id of the snapshot that the rows were made from, for the signature."
    )
    prompts: PromptsHash | None = Field(None, description="The prompts that a model phrased the rows with, likewise.")
    asked: PromptsHash | None = Field(None, description="Those that it was asked the questions with, likewise.")
    standard: Standard | None = _field_like_setting(shared_settings.FirstLevel, None)

    @cached_property
    def rows_and_rejects(self) -> tuple[list[Row], list[RejectedRow]]:
        """Return (valid rows, rejected rows)."""
        rows: dict[str, Row] = {}
        rejected: list[RejectedRow] = []
        for number, data in enumerate(self.rows, 1):
            try:
                if not isinstance(data, Mapping):
                    raise RowError("no JSON object")
                row = Row.from_json({"id": f"row-{number}", **data})
                limits.checked_name_lengths(row)
                if row.id in rows:
                    raise RowError(f"id {row.id!r} is there already")
                rows[row.id] = row
            except RowError as error:
                rejected.append(RejectedRow(source=f"rows[{number}]", reason=str(error), excerpt=repr_excerpt(data)))
        return list(rows.values()), rejected
