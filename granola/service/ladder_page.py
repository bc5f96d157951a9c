"""The page: a form, and the ladder of what was asked, as HTML that needs no script."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

import orjson
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup
from pydantic import ValidationError

from abstraction.formats.cells import marked
from abstraction.reasons import REASONS
from abstraction.relations import table as relation_table
from abstraction.rows import TieredRow, granola_columns
from abstraction.tiers import Abstention, Tier
from granola import __version__
from granola.attribution.tier_checks import TierAttribution
from granola.report.ladder_html import SHOWN_ALIASES, address, outcome_chip
from granola.report.score_tables import interval, number
from granola.scoring.items import ItemScore
from granola.scoring.predictions import Prediction, PredictionFile
from granola.scoring.scores import ScoreReport, names_of, score
from granola.service import page_evidence, snapshot_work
from granola.service.entities import set_aside
from granola.service.example_questions import Example
from granola.service.limits import LONGEST, check_compared
from granola.service.page_text import escaped, kept, shown, visible
from granola.service.page_words import LINKED, SCORES, rule_words
from granola.service.problems import HTTPProblem
from granola.service.schemas import LadderRequest
from granola.service.snapshot_session import SnapshotSession
from granola.service.validation_errors import problem_of_errors

MOST_PREDICTIONS = 100
MOST_TEXT = 6_000  # characters of all predictions: addresses that are longer get lost on their way
MOST_CARRIERS = 20  # entities that are asked whether they are the one asked about
MOST_RIVALS = 20  # entities that are named as what the answer may mean, too
SHORT_EVIDENCE = 6  # rows of evidence that stand there unasked
SHOWN_PAST = 8
DECLINED = "I don’t know"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What the form was filled in with."""

    question: str = ""
    answer: str = ""
    relation: str = ""
    answer_qid: str = ""
    subject: str = ""
    subject_qid: str = ""
    language: str = "en"
    phrase: str = ""
    predictions: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Asked:
        """The fields of an address; others mean nothing. Control characters become signs, which can be seen."""
        known = {field.name for field in fields(cls)}
        given = {
            name: visible(_one_line(text) if name != "predictions" else text.replace("\r\n", "\n"))
            for name, text in query.items()
            if name in known and text.strip()
        }
        if "language" in given:
            given["language"] = given["language"].lower().replace("_", "-")
        return cls(**given)

    def address(self) -> str:
        """The page's address with what was filled in, and nothing else."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return "./" + (f"?{urlencode(given)}" if given else "")

    def lines(self) -> list[str]:
        """The predictions. Raises HTTPProblem for too many."""
        lines = [line.strip() for line in self.predictions.splitlines() if line.strip()]
        if len(lines) > MOST_PREDICTIONS or len(self.predictions) > MOST_TEXT:
            raise HTTPProblem(
                413, "predictions", f"more than {MOST_PREDICTIONS} predictions or {MOST_TEXT:,} characters of them; "
                "`granola score` takes files of any length",
            )  # fmt: skip
        return lines

    def request(self) -> LadderRequest:
        """The request for the ladder. Raises HTTPProblem where a field is not as it must be."""
        if not self.question or not self.answer:
            raise HTTPProblem(422, "request", "give a question and its answer")
        data = {
            "question": self.question,
            "answer": self.answer,
            "relation": self.relation.upper() or None,
            "answer_qid": self.answer_qid.upper() or None,
            "question_entity": {"text": self.subject} if self.subject else None,
            "question_entity_qid": self.subject_qid.upper() or None,
            "language": self.language,
            "phrase": self.phrase,
            "unproven": "drop" if self.phrase else "",  # every level of the page is right
        }
        try:
            return LadderRequest.model_validate({key: value for key, value in data.items() if value})
        except ValidationError as error:
            raise problem_of_errors(error.errors()) from None


def _one_line(text: str) -> str:
    return re.sub(r"[\t\r\n]+", " ", text).strip()


def is_padded(query: Mapping[str, str]) -> bool:
    """Whether an address names fields that are blank, as a form without scripts sends them all."""
    defaults = {field.name: field.default for field in fields(Asked)}
    return any(name in defaults and text.strip() in ("", defaults[name]) for name, text in query.items())


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundLadder:
    """What a reader's thread finds for the page. `names` has an id, a label and a description for each id.

    `is_spoken` unless there is nothing in the language that was asked for.
    """

    row: TieredRow
    is_spoken: bool
    past: Sequence[Mapping[str, Any]]
    names: Mapping[str, Mapping[str, Any]]
    attributed: Mapping[tuple[int, int], TierAttribution]

    @property
    def links(self) -> Sequence[Mapping[str, Any]]:
        """How the answers found their entities."""
        links: Sequence[Mapping[str, Any]] = self.row.extra.get("links", ())
        return links


def find(holding: SnapshotSession, made: TieredRow, language: str) -> FoundLadder:
    """What does not hold today of what a ladder rests on or was asked for, and the names of all of it."""
    steps = [e for level in made.levels for tier in level.tiers for e in tier.evidence if e.kind == "statement"]
    links = made.extra.get("links", ())
    answers = [note["qid"] for note in links if note.get("qid")]
    subject = _subject(holding, made, answers)
    pairs = [(subject, made.relation)] if subject and made.relation else []
    pairs += [(e.subject, e.property) for e in steps if e.subject and e.property]
    used = {step.statement for step in steps}
    past = [one for one in set_aside(holding, pairs, language=language) if one["id"] not in used]
    ids = [
        *filter(None, (made.relation, subject)),
        *answers,
        *(i for note in links for i in note.get("rivals", ())[:MOST_RIVALS]),
    ]
    return FoundLadder(
        row=made, is_spoken=holding.speaks(language), past=past, names=snapshot_work.named(holding, ids, language),
        attributed={(one.level, one.position): one for one in holding.attributor(language).checked(made)},
    )  # fmt: skip


def _subject(holding: SnapshotSession, row: TieredRow, answers: Sequence[str]) -> str | None:
    """The entity asked about; where the ladder had no need of it, the one of this very name that has this answer."""
    about = row.question_entity or {}
    if about.get("qid") or not (about.get("text") and row.relation and answers):
        return about.get("qid")
    text = about["text"]
    carriers = [match.id for match in holding.store.find([text]).get(text, ()) if match.kind == "label"]
    entities = holding.store.entities(list(dict.fromkeys(carriers))[:MOST_CARRIERS], properties=[row.relation])
    having = {e.id for e in entities.values() if any(s.target in answers for s in e.statements)}
    return having.pop() if len(having) == 1 else None


def judge(row: TieredRow, lines: Sequence[str], *, language: str, snapshot: str) -> ScoreReport:
    """The scores of predictions that all answer one question. Raises HTTPProblem for too many."""
    check_compared([(list(map(len, lines)), [len(name) for names in names_of(row) for name in names])])
    rows = [replace(row, id=str(n)) for n in range(1, len(lines) + 1)]
    given = {str(n): Prediction(id=str(n), text=text) for n, text in enumerate(lines, 1)}
    return score(
        rows,
        PredictionFile(name="predictions", predictions=given),
        snapshot_work.chosen_matcher("rules", None, language),
        snapshot=snapshot,
    )


def render(
    asked: Asked,
    *,
    snapshot: str,
    examples: Sequence[Example] = (),
    found: FoundLadder | None = None,
    report: ScoreReport | None = None,
    error: str | None = None,
    retry: bool = False,
    has_model: bool = False,
) -> bytes:
    """The page's bytes. All that was sent or is in the snapshot stands there as text; `retry` offers to ask again,
    `has_model` a ladder in the words of a model."""
    plain = Asked(question=asked.question, answer=asked.answer, predictions=asked.predictions, phrase=asked.phrase)
    slots: dict[str, Any] = {
        "asked": asked,
        "has_more": asked != plain,
        "error": error,
        "row": found.row if found else None,
        "examples": [
            {
                "question": e.question,
                "answer": e.answer,
                "href": Asked(question=e.question, answer=e.answer).address() + "#ladder",
            }
            for e in examples
        ],
        "retry": retry,
        "has_model": has_model,
        "again": asked.address() + "#ladder",
        "snapshot": snapshot,
        "version": __version__,
        "longest": LONGEST,
        "most_text": MOST_TEXT,
    }
    if found:
        slots |= _result(asked, found, report)
    text: str = _template().render(slots)
    return text.encode("utf-8", "replace")


def _result(asked: Asked, found: FoundLadder, report: ScoreReport | None) -> dict[str, Any]:
    row = found.row
    items = report.items if report else ()
    most = max((t.bits or 0.0 for level in row.levels for t in level.tiers), default=0.0)
    levels = []
    for depth, level in enumerate(row.levels, 1):
        levels.append(
            {
                "number": depth,
                "tiers": [
                    {**_tier(tier, found, most), "attributed": found.attributed.get((depth, place))}
                    for place, tier in enumerate(level.tiers, 1)
                ],
                "matched": [item.prediction for item in items if item.verdict and item.verdict.level == depth],
            }
        )
    past = [dict(zip(("row", "why"), page_evidence.past(one), strict=True)) for one in found.past]
    return {
        "language": asked.language if found.is_spoken else "en",
        "unspoken": "" if found.is_spoken else asked.language,
        "phrasing": _phrasing(row),
        "read": _read(found),
        "levels": levels,
        "reason": REASONS.get(Abstention(row.abstained), "") if row.abstained else "",
        "past": past[:SHOWN_PAST],
        "more_past": past[SHOWN_PAST:],
        "items": [_item(item) for item in items],
        "scores": _scores(report) if report else [],
        "signature": str(report.signature) if report else "",
        "try_out": replace(asked, predictions="\n".join(_likely(row))).address() + "#predictions",
        "copies": copies(row),
    }


def _phrasing(row: TieredRow) -> str:
    """What a model has made of the ladder, where one was asked."""
    note = row.extra.get("phrasing")
    if not isinstance(note, dict):
        return ""
    if "fallback" in note:
        return f"This is the graph’s own ladder: the model’s words could not be used ({note['fallback']})."
    return "The coarser answers are in a model’s words; those that the graph does not entail are left out."


def _read(found: FoundLadder) -> dict[str, Any]:
    """What the question was read as asking, and whom its answers mean."""
    row = found.row
    about = row.question_entity or {}
    known = relation_table().get(row.relation or "")
    links = [
        {
            **_entity(note["qid"], found),
            "confidence": note["confidence"],
            "share": note.get("share"),
            "words": LINKED.get(note.get("rule", ""), ""),
            "rivals": [_entity(one, found) for one in note.get("rivals", ()) if one in found.names],
        }
        for note in found.links
        if note.get("qid") and note.get("confidence")
    ]
    return {
        "relation": {**_entity(row.relation, found), "known": known.label if known else None} if row.relation else None,
        "subject": _entity(about["qid"], found) if about.get("qid") else None,
        "about": about.get("text"),
        "links": links,
    }


def _entity(entity_id: str, found: FoundLadder) -> dict[str, Any]:
    named = found.names.get(entity_id, {"label": None, "description": None})
    return {"id": entity_id, "href": address(entity_id), **{key: named[key] for key in ("label", "description")}}


def _tier(tier: Tier, found: FoundLadder, most: float) -> dict[str, Any]:
    rows = page_evidence.rows(tier.evidence)
    starts = {row.start for row in rows if row.anew}
    candidates = {one for note in found.links for one in (note.get("qid"), *note.get("rivals", ()))}
    return {
        "text": tier.text,
        "qid": tier.qid,
        "href": address(tier.qid) if tier.qid else None,
        "bits": tier.bits,
        "share": round(100 * tier.bits / most, 1) if tier.bits is not None and most else None,
        "also": tier.aliases[:SHOWN_ALIASES],
        "more": max(0, len(tier.aliases) - SHOWN_ALIASES),
        "rows": rows,
        "is_short": len(rows) <= SHORT_EVIDENCE,
        # Of an answer that may mean several entities, each has its own way.
        "meant": {one: _entity(one, found) for one in candidates if one} if starts & candidates else {},
    }


def _item(item: ItemScore) -> dict[str, Any]:
    rule = item.verdict.rule if item.verdict else ""
    return {
        "prediction": item.prediction,
        "chip": Markup(outcome_chip(item)),
        "rule": rule,
        "words": rule_words(rule),
        "tier": item.verdict.compared.tier if item.verdict and item.verdict.compared else "",
        "weight": item.weight,
    }


def _likely(row: TieredRow) -> list[str]:
    """Predictions to try the page with: the coarsest answer, the finest, none."""
    return list(dict.fromkeys((row.levels[-1].tiers[0].text, row.levels[0].tiers[0].text, DECLINED)))


def _scores(report: ScoreReport) -> list[dict[str, Any]]:
    estimates = report.overall.estimates
    return [
        {"title": m.title, "words": SCORES[m.name], "value": number(e.value), "interval": interval(e), "n": e.n}
        for m in report.metrics
        if m.name in SCORES and (e := estimates[m.name])
    ]


def copies(row: TieredRow) -> list[dict[str, str]]:
    """The row in the forms that files have."""
    data = {"schema_version": 1, **row.to_json()}
    columns = granola_columns(row)
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(
        [list(columns), ["" if v is None else marked(v) for v in columns.values()]]
    )
    return [
        {"name": "JSON", "text": escaped(json.dumps(data, ensure_ascii=False, indent=2))},
        {"name": "JSONL", "text": escaped(orjson.dumps(data).decode())},
        {"name": "GRANOLA-EQ row", "text": stream.getvalue()},
    ]


@cache
def _template() -> Any:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"shown": shown, "kept": kept}
    return environment.from_string(files("granola.service").joinpath("static/page.html").read_text("utf-8"))


@cache
def asset(name: str) -> tuple[bytes, str]:
    """(bytes, ETag) of the page's style or script."""
    own = files("granola.service").joinpath(f"static/{name}").read_bytes()
    data = files("granola.report").joinpath(name).read_bytes() + own if name.endswith(".css") else own
    return data, '"' + base64.urlsafe_b64encode(hashlib.sha256(data).digest()[:18]).decode() + '"'
