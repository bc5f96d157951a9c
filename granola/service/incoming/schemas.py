"""What is sent to the service and what it answers, as pydantic types; the OpenAPI document is made of them.

Questions, tiers and predictions are those of the files: further fields are kept and handed on.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from abstraction.rows import QARow
from abstraction.rows import TieredRow as Row
from granola import response_settings, shared_settings
from granola.attribution.categories import Category
from granola.decoding import SampleRow
from granola.decoding.drag_graph import SUPPORT
from granola.matching.registry import MATCHERS
from granola.scoring.bootstrap import LEAST_RESAMPLES, MOST_RESAMPLES
from granola.scoring.metrics import Standard
from granola.service.incoming.asked_rows import read_question, read_samples, row_of_names
from granola.service.incoming.limits import (
    LONGEST,
    LONGEST_ID,
    MOST_ANSWERS,
    MOST_LEVELS,
    MOST_NAMES,
    MOST_PREDICTIONS,
    MOST_SAMPLES,
)
from granola.service.incoming.problems import HTTPProblem

Text = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST, pattern=r"\S")]
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{1,8}){0,3}$")]
if TYPE_CHECKING:
    MatcherName = str
    Linker = Literal["question", "smallest"]
    PhraseMode = Literal["free", "word"]
    Unproven = Literal["keep", "drop"]
    CategoryName = str
else:
    MatcherName = Literal[tuple(MATCHERS)]
    Linker = Literal[tuple(map(str, shared_settings.LinkerName))]
    PhraseMode = Literal[tuple(map(str, shared_settings.PhraseMode))]
    Unproven = Literal[tuple(map(str, shared_settings.Unproven))]
    CategoryName = Literal[tuple(map(str, Category))]
EntityText = Annotated[str, StringConstraints(max_length=LONGEST)]
Answers = Text | Annotated[list[Text], Field(min_length=1, max_length=MOST_ANSWERS)]
ItemId = Annotated[str, StringConstraints(max_length=LONGEST_ID)]


def _as_in(setting: Any, default: Any, **more: Any) -> Any:
    """A field with the help of a shared setting."""
    return Field(default, **{"description": get_args(setting)[1].help, **more})


class _Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class EntityName(_Open):
    """An entity by its name, its id, or both."""

    text: str | None = Field(None, max_length=LONGEST)
    qid: str | None = Field(None, max_length=100, examples=["Q76"])


class Question(_Open):
    """A question with its gold answer, as a row of a file of questions has them. Other fields are handed on."""

    question: Text = Field(examples=["Where was Barack Obama born?"])
    answer: Answers | None = Field(None, examples=["Honolulu"], description="One answer or several equal ones.")
    answers: Answers | None = Field(None, description="The same under the name that some files have for it.")
    relation: str | None = Field(None, max_length=100, description="Property id; told by the wording if it can be.")
    answer_qid: str | Annotated[list[str | None], Field(max_length=MOST_ANSWERS)] | None = Field(
        None, description="The answer's item, as Q18094; linked by name if left out."
    )
    question_entity: EntityName | EntityText | None = Field(None, description="The entity asked about.")
    question_entity_qid: str | None = Field(None, max_length=100)
    id: ItemId | int | None = None


class LinkRequest(Question):
    """A question, the language of names and tiers, and how the answer finds its entity."""

    language: Language = _as_in(shared_settings.Language, "en")
    linker: Linker = _as_in(shared_settings.Linker, "question")

    @cached_property
    def row(self) -> QARow:
        """The question as a row. Raises RowError, and HTTPProblem for more than is read of one."""
        return read_question(self.model_dump(exclude_unset=True, exclude=_SETTINGS))


_SETTINGS = {"language", "linker", "phrase", "unproven"}


class LadderRequest(LinkRequest):
    """The same, and whether a model is to word the ladder."""

    phrase: PhraseMode | None = Field(
        None,
        description="Where the service has a model, let it write the coarser answers (free) or word those that the "
        "graph gives (word), each checked by the graph.",
    )
    unproven: Unproven = _as_in(shared_settings.UnprovenTiers, "keep")


class AggregateRequest(_Open):
    """A question with several responses to it, and the settings of `granola aggregate`. Other fields are handed on."""

    question: Text = Field(examples=["Where was Barack Obama born?"])
    samples: list[Annotated[str, StringConstraints(max_length=LONGEST)]] = Field(
        min_length=1, max_length=MOST_SAMPLES, examples=[["Honolulu", "Hilo", "in Hawaii"]]
    )
    relation: str | None = Field(None, max_length=100)
    question_entity: EntityName | EntityText | None = None
    question_entity_qid: str | None = Field(None, max_length=100)
    id: ItemId | int | None = None
    method: Literal["drag-graph", "self-consistency", "drag"] = Field(
        "drag-graph", description="drag: the service's model makes the answer, where it has one."
    )
    support: float = Field(
        SUPPORT,
        gt=0,
        le=1,
        description="drag-graph: the share that entails the answer, of responses that do not decline.",
    )
    counting: Literal["text", "alias", "ladder"] = _as_in(response_settings.CountedAs, "text")
    abstaining: Literal["ignore", "vote", "against", "pass"] | None = _as_in(response_settings.AbstainingRule, None)
    language: Language = _as_in(response_settings.ResponseLanguage, "en")
    linker: Linker = _as_in(shared_settings.Linker, "question")

    @cached_property
    def row(self) -> SampleRow:
        """The question with its responses. Raises RowError, and HTTPProblem for more than is read of them."""
        settings = {"method", "support", "counting", "abstaining", "language", "linker"}
        return read_samples(self.model_dump(exclude_unset=True, exclude=settings))


class AggregateAnswer(_Open):
    """The row with its prediction, "IDK" where the responses have nothing in common."""

    id: str
    question: str
    prediction: str
    method: str
    explanation: str
    support: float | None = None
    counted: int | None = None
    confidence: float | None = None
    responses: int | None = None
    bits: float | None = None
    qid: str | None = None


class Evidence(_Open):
    """One step of the reasoning that makes a tier true."""

    kind: Literal["statement", "description", "rule", "model"]
    subject: str | None = None
    property: str | None = None
    value: str | None = None
    statement: str | None = None
    language: str | None = None
    text: str | None = None
    span: list[int] | None = None
    call: str | None = None
    check: str | None = None
    labels: dict[str, str] = Field(default_factory=dict)


class Tier(_Open):
    """One acceptable answer: its text and other names, its information content in bits, what entails it."""

    text: str
    language: str | None = Field(None, description="That of the text, where it is another than the row's.")
    qid: str | None = None
    aliases: list[str] = Field(default_factory=list)
    bits: float | None = Field(None, ge=0)
    evidence: list[Evidence] = Field(default_factory=list)


class Level(_Open):
    """Equally fine tiers."""

    tiers: list[Tier] = Field(min_length=1)


class LinkNote(_Open):
    """How an answer found its entity; `share` is the part of the belief, `rivals` who else it may be."""

    qid: str | None = None
    confidence: Literal["given", "high", "medium", "low"] | None = None
    rule: str | None = None
    share: float | None = None
    rivals: list[str] | None = None
    abstained: str | None = None


class TieredRow(_Open):
    """A question with its ladder, as `granola tiers` writes it. Levels are finest first, the first the answer."""

    schema_version: int | None = None
    id: str
    question: str
    relation: str | None = None
    question_entity: EntityName | None = None
    answer: list[str]
    levels: list[Level] = Field(min_length=1)
    abstained: str | None = Field(None, description="Why there is no coarser answer.")
    links: list[LinkNote] | None = None


class Named(BaseModel):
    """An entity of the snapshot, briefly."""

    id: str
    label: str | None
    description: str | None


class LinkAnswer(BaseModel):
    """The answers' links, in their order, and the entities that they name."""

    links: list[LinkNote]
    abstained: str | None
    entities: dict[str, Named]


class Found(Named):
    """An entity that carries a name: as its label or as an alias, in which language, as it is written there."""

    kind: Literal["label", "alias"]
    language: str
    text: str


class SearchAnswer(BaseModel):
    """Entities that carry the name: by label first, then by number."""

    name: str
    found: list[Found]
    more: int = Field(description="How many carriers are left out.")


class Value(_Open):
    """What a statement or a qualifier says: an entity, a text, an amount with its unit, a time."""

    property: str
    kind: str = Field(description="value, somevalue or novalue.")
    entity: str | None = None
    text: str | None = None
    unit: str | None = None
    language: str | None = None
    precision: int | None = Field(None, description="Of a time, as WikiData numbers them.")
    calendar: str | None = None
    type: str | None = None


class EntityStatement(Value):
    """A statement of an entity; `current` where it holds today, as ladders see it."""

    id: str
    rank: Literal["preferred", "normal", "deprecated"]
    current: bool
    start: str | None = None
    end: str | None = None
    at: str | None = None
    qualifiers: list[Value]


class EntityAnswer(BaseModel):
    """An item or property in a language and its fallbacks, with all statements and the names of what they mention."""

    id: str
    sitelinks: int
    labels: dict[str, str]
    descriptions: dict[str, str]
    aliases: dict[str, list[str]]
    statements: list[EntityStatement]
    more: int = Field(description="How many statements are left out.")
    names: dict[str, str]


class Manifest(_Open):
    """What the snapshot was made from, and how."""

    snapshot_id: str
    schema_version: int
    created: str | None = None
    software: str | None = None
    counts: dict[str, int] = Field(default_factory=dict)


class MatchSettings(_Closed):
    """What decides a match, and how levels weigh."""

    matcher: MatcherName = Field("rules", description="judge: the service's model decides, where it has one.")
    tau: float | None = _as_in(shared_settings.Tau, None, ge=0, lt=1)
    lambda_: float = _as_in(shared_settings.Lambda, 0.5, ge=0, le=1_000, alias="lambda")
    raw: bool = _as_in(shared_settings.Raw, False)


Prediction = Annotated[str, StringConstraints(max_length=LONGEST)]
Names = Annotated[
    list[Annotated[str, StringConstraints(max_length=LONGEST)]], Field(min_length=1, max_length=MOST_NAMES)
]


class MatchRequest(MatchSettings):
    """Predictions held against levels: those of a tiered row, or names alone, finest level first."""

    predictions: list[Prediction] = Field(min_length=1, max_length=MOST_PREDICTIONS, examples=[["in Hawaii", "Kenya"]])
    row: TieredRow | None = None
    levels: Annotated[list[Names], Field(min_length=1, max_length=MOST_LEVELS)] | None = Field(
        None, examples=[[["Honolulu"], ["Hawaii"]]]
    )
    question: str | None = Field(None, max_length=LONGEST)
    language: Language = "en"

    @cached_property
    def tiered(self) -> Row:
        """What the predictions are held against. Raises RowError, and HTTPProblem where both are given or neither."""
        if (self.row is None) == (self.levels is None):
            raise HTTPProblem(422, "request", "give either a tiered row or levels")
        if self.row is not None:
            return Row.from_json(self.row.model_dump(exclude_unset=True))
        return row_of_names(self.levels or (), self.question)


class AttributionRequest(BaseModel):
    """A tiered row whose evidence is to be looked at."""

    row: TieredRow
    language: Language = "en"

    @cached_property
    def tiered(self) -> Row:
        """The row as files have it. Raises RowError."""
        return Row.from_json(self.row.model_dump(exclude_unset=True))


class AttributedTier(BaseModel):
    """A tier beyond the answer, with its evidence in sentences; `level` 2 is the first, `tier` counts from 1."""

    row: str
    level: int
    tier: int
    text: str
    citations: list[str]
    category: CategoryName | None = Field(description="What the evidence is to the tier; null where nobody can tell.")
    flaws: list[str] = Field(description="Why it is not supportive.")


class AttributionAnswer(BaseModel):
    """Every tier of the row beyond the answer, in order."""

    id: str
    tiers: list[AttributedTier]


class Comparison(BaseModel):
    """The part of the prediction that decided, and the name that it was held against."""

    prediction: str
    tier: str


class Item(BaseModel):
    """What became of one prediction. `level` counts from 1, the finest; `rule` names what decided."""

    id: str
    relation: str | None
    prediction: str | None
    status: Literal["matched", "wrong", "abstained", "unscored"]
    level: int | None
    rule: str | None
    compared: Comparison | None
    score: float | None
    abstained: bool | None
    weight: float | None
    bits: float | None
    bits_share: float | None
    other_level: int | None = Field(description="The level where the gold answer's aliases count, or do not.")


class MatchAnswer(BaseModel):
    """One item a prediction, in their order; `matcher` with every setting that can change a verdict."""

    matcher: str
    items: list[Item]


PromptsHash = Annotated[str, StringConstraints(pattern=r"^([a-z+]{1,40}-)?[0-9a-f]{8,64}$")]


_ROW_EXAMPLE = {
    "schema_version": 1,
    "id": "1",
    "question": "Where was Barack Obama born?",
    "answer": ["Honolulu"],
    "levels": [{"tiers": [{"text": name, "aliases": []}]} for name in ("Honolulu", "Hawaii")],
}


class ScoreRequest(MatchSettings):
    """Tiered rows and predictions, each as a file of them holds them, and the settings of `granola score`."""

    rows: list[Any] = Field(
        min_length=1, description="Tiered rows, as `granola tiers` writes them.", examples=[[_ROW_EXAMPLE]]
    )
    predictions: list[Any] = Field(
        min_length=1, description='{"id", "prediction"} each.', examples=[[{"id": "1", "prediction": "in Hawaii"}]]
    )
    system: Annotated[str, StringConstraints(min_length=1, max_length=200)] = "predictions"
    resamples: int = _as_in(shared_settings.Resamples, 1000, ge=LEAST_RESAMPLES, le=MOST_RESAMPLES)
    seed: int = _as_in(shared_settings.Seed, 0, ge=0, le=(1 << 31) - 1)
    allow_missing: bool = _as_in(shared_settings.AllowMissing, False)
    ignore_unknown: bool = _as_in(shared_settings.IgnoreUnknown, False)
    snapshot: str | None = Field(
        None, max_length=100, description="Id of the snapshot that the rows were made from, for the signature."
    )
    prompts: PromptsHash | None = Field(
        None, description="Set and hash of the prompts that a model phrased the rows with, for the signature."
    )
    asked: PromptsHash | None = Field(
        None, description="Set and hash of the prompts that a model was asked the questions with, for the signature."
    )
    standard: Standard | None = _as_in(shared_settings.FirstLevel, None)


class Rejected(BaseModel):
    """A row that was left out: where it stood, and why."""

    source: str
    reason: str
    excerpt: str


class ScoreAnswer(_Open):
    """What `granola score --json` prints, the items of `--out` and the rejected rows."""

    schema_version: int
    system: str
    signature: str
    items: list[Item]
    rejected: list[Rejected]


class ProblemDocument(_Open):
    """RFC 9457. `code` stays the same for the same problem; `detail` says what to do."""

    type: str
    title: str
    status: int
    code: str
    detail: str


class Health(BaseModel):
    """Whether the process runs, and whether it can answer."""

    status: Literal["ok", "starting"]
