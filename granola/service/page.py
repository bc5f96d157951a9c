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
from markupsafe import Markup, escape
from pydantic import ValidationError

from abstraction.rows import QARow, TieredRow, granola_columns
from abstraction.tiers import Abstention, Tier
from granola import __version__
from granola.predictions import Prediction, PredictionFile
from granola.report.ladder_html import SHOWN_ALIASES, evidence_html, item_link, outcome_chip
from granola.report.tables import interval, number
from granola.scoring import ScoreReport, score
from granola.service import work
from granola.service.entities import set_aside
from granola.service.examples import Example
from granola.service.holding import Holding
from granola.service.problems import Problem
from granola.service.schemas import LONGEST, LadderRequest
from granola.signature import SHORT, hash_of

MOST_PREDICTIONS = 100
MOST_TEXT = 6_000  # characters of all predictions: addresses that are longer get lost on their way
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
SHOWN_METRICS = ("granola_accuracy", "standard_accuracy", "informativeness", "informativeness_bits", "coverage")
REASONS = {
    Abstention.NO_LINK: "no entity of the snapshot carries the answer's name.",
    Abstention.AMBIGUOUS_LINK: "the answer's name means several entities, and nothing tells which.",
    Abstention.TYPE_CONFLICT: "what carries the answer's name is not what the question asks for.",
    Abstention.NOTHING_KNOWN: "the snapshot says nothing of the answer that a coarser one would follow from.",
    Abstention.ONLY_TRIVIAL: "all that follows merely repeats what the question asks for.",
    Abstention.UNSUPPORTED: "answers of this sort have no ladders.",
}
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


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
    predictions: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Asked:
        """The fields of an address; others mean nothing."""
        known = {field.name for field in fields(cls)}
        given = {name: text.strip() for name, text in query.items() if name in known and text.strip()}
        return cls(**given)

    def lines(self) -> list[str]:
        """The predictions. Raises Problem for too many."""
        lines = [line.strip() for line in self.predictions.splitlines() if line.strip()]
        if len(lines) > MOST_PREDICTIONS or len(self.predictions) > MOST_TEXT:
            raise Problem(
                413, "predictions", f"more than {MOST_PREDICTIONS} predictions or {MOST_TEXT:,} characters of them; "
                "`granola score` takes files of any length",
            )  # fmt: skip
        return lines

    def request(self) -> LadderRequest:
        """The request for the ladder. Raises Problem where a field is not as it must be."""
        if not self.question or not self.answer:
            raise Problem(422, "request", "give a question and its answer")
        data = {
            "question": self.question,
            "answer": self.answer,
            "relation": self.relation.upper() or None,
            "answer_qid": self.answer_qid.upper() or None,
            "question_entity": {"text": self.subject} if self.subject else None,
            "question_entity_qid": self.subject_qid.upper() or None,
            "language": self.language,
        }
        try:
            return LadderRequest.model_validate({key: value for key, value in data.items() if value})
        except ValidationError as error:
            first = error.errors()[0]
            raise Problem(422, "request", f"{first['loc'][0]}: {first['msg']}") from None


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What a reader's thread finds for the page."""

    row: TieredRow
    past: Sequence[Mapping[str, Any]]
    rivals: Sequence[Mapping[str, Any]]
    told: str


def find(holding: Holding, row: QARow, language: str) -> Found:
    """The ladder, what was once or is no longer held of its steps, and who else the answer may be."""
    made = work.ladder(holding, row, language=language, linker="question")
    steps = [e for level in made.levels for tier in level.tiers for e in tier.evidence if e.kind == "statement"]
    links = made.extra.get("links", [])
    rivals = [i for note in links for i in note.get("rivals", ())][:20]
    names = work.named(holding, rivals, language)
    return Found(
        row=made,
        past=set_aside(
            holding, [(e.subject, e.property) for e in steps if e.subject and e.property], language=language
        ),
        rivals=[names[i] for i in rivals if i in names],
        told=_told(made, links),
    )


def judge(row: TieredRow, lines: Sequence[str], *, language: str, snapshot: str) -> ScoreReport:
    """The scores of predictions that all answer one question."""
    rows = [replace(row, id=str(n)) for n in range(1, len(lines) + 1)]
    given = {str(n): Prediction(id=str(n), text=text) for n, text in enumerate(lines, 1)}
    return score(
        rows,
        PredictionFile(name="predictions", predictions=given),
        work.chosen_matcher("rules", None, language),
        tiers_hash=hash_of(work.line_of(row.to_json(), first=True)),
        snapshot=snapshot[:SHORT],
    )


def render(
    asked: Asked,
    *,
    snapshot: str,
    examples: Sequence[Example] = (),
    found: Found | None = None,
    report: ScoreReport | None = None,
    error: str | None = None,
) -> bytes:
    """The page's bytes. All that was sent or is in the snapshot stands there as text."""
    more = asked != replace(Asked(), question=asked.question, answer=asked.answer)
    slots: dict[str, Any] = {
        "asked": asked,
        "has_more": more,
        "error": error,
        "row": found.row if found else None,
        "examples": [{"question": e.question, "answer": e.answer, "href": _href(e)} for e in examples],
        "snapshot": snapshot,
        "version": __version__,
        "longest": LONGEST,
        "most_text": MOST_TEXT,
    }
    if found:
        slots |= _result(found, report)
    text: str = _template().render(slots)
    return text.encode("utf-8", "replace")


def _result(found: Found, report: ScoreReport | None) -> dict[str, Any]:
    row = found.row
    items = report.items if report else ()
    most = max((t.bits or 0.0 for level in row.levels for t in level.tiers), default=0.0)
    levels = []
    for depth, level in enumerate(row.levels, 1):
        bits = [tier.bits for tier in level.tiers if tier.bits is not None]
        levels.append(
            {
                "number": depth,
                "share": round(100 * max(bits) / most, 1) if bits and most else None,
                "tiers": [_tier(tier) for tier in level.tiers],
                "matched": [item.prediction for item in items if item.verdict and item.verdict.level == depth],
            }
        )
    return {
        "levels": levels,
        "told": found.told,
        "reason": REASONS.get(Abstention(row.abstained), "") if row.abstained else "",
        "past": [_past(one) for one in found.past],
        "rivals": [
            {"link": Markup(item_link(one["id"], label=one["label"])), "description": one["description"]}
            for one in found.rivals
        ],
        "items": [
            {
                "prediction": item.prediction,
                "chip": Markup(outcome_chip(item)),
                "rule": item.verdict.rule if item.verdict else "",
                "tier": item.verdict.compared.tier if item.verdict and item.verdict.compared else "",
                "weight": item.weight,
            }
            for item in items
        ],
        "scores": _scores(report) if report else [],
        "signature": str(report.signature) if report else "",
        "copies": copies(row),
    }


def _scores(report: ScoreReport) -> list[dict[str, Any]]:
    shown = [metric for metric in report.metrics if metric.name in SHOWN_METRICS]
    estimates = report.overall.estimates
    return [
        {"title": m.title, "value": number(e.value), "interval": interval(e), "n": e.n}
        for m in shown
        if (e := estimates[m.name])
    ]


def _tier(tier: Tier) -> dict[str, Any]:
    return {
        "text": tier.text,
        "qid": tier.qid,
        "link": Markup(item_link(tier.qid)) if tier.qid else "",
        "bits": tier.bits,
        "also": tier.aliases[:SHOWN_ALIASES],
        "more": max(0, len(tier.aliases) - SHOWN_ALIASES),
        "evidence": [Markup(evidence_html(step)) for step in tier.evidence],
    }


def _past(one: Mapping[str, Any]) -> dict[str, Any]:
    names = one["names"]
    subject, prop = one["subject"], one["property"]
    value = one.get("entity")
    said = item_link(value, label=names.get(value, value)) if value else escape(one.get("text") or one["kind"])
    html = (
        f"{item_link(subject, label=names.get(subject, subject))} "
        f"{item_link(subject, label=names.get(prop, prop), prop=prop)} &rarr; {said}"
    )
    times = [f"{word} {one[key]}" for word, key in (("from", "start"), ("until", "end"), ("in", "at")) if one.get(key)]
    why = "deprecated" if one["rank"] == "deprecated" else ", ".join(times) or "not a value for today"
    return {"html": Markup(html), "why": why}


def _told(row: TieredRow, links: Sequence[Mapping[str, Any]]) -> str:
    parts = []
    if row.relation:
        entity = row.question_entity or {}
        about = " ".join(filter(None, (entity.get("text"), entity.get("qid"))))
        parts.append(f"Read as {row.relation}" + (f" of {about}" if about else ""))
    for note in links:
        if note.get("qid") and note.get("confidence"):
            sure = {"given": "given by its id", "only": "nothing else carries the name"}.get(note.get("rule", ""), "")
            parts.append(
                f"answer linked to {note['qid']}, {note['confidence']} confidence" + (f" ({sure})" if sure else "")
            )
    whole = "; ".join(parts)
    return f"{whole[:1].upper()}{whole[1:]}." if whole else ""


def copies(row: TieredRow) -> list[dict[str, str]]:
    """The row in the forms that files have."""
    data = {"schema_version": 1, **row.to_json()}
    columns = granola_columns(row)
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(
        [list(columns), ["" if v is None else v for v in columns.values()]]
    )
    return [
        {"name": "JSON", "text": _escaped(json.dumps(data, ensure_ascii=False, indent=2))},
        {"name": "JSONL", "text": _escaped(orjson.dumps(data).decode())},
        {"name": "GRANOLA-EQ row", "text": shown(stream.getvalue())},
    ]


def _escaped(text: str) -> str:
    """JSON with what is not to be seen escaped; it reads as the same."""
    return _CONTROL.sub(lambda c: f"\\u{ord(c[0]):04x}", text)


def _href(example: Example) -> str:
    return "./?" + urlencode({"question": example.question, "answer": example.answer}) + "#ladder"


def shown(text: object) -> str:
    """Text with its control characters made visible, so that none of them changes what stands around it."""
    return _CONTROL.sub(lambda c: chr(0x2400 + ord(c[0])) if c[0] < " " else f"[U+{ord(c[0]):04X}]", str(text))


@cache
def _template() -> Any:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["shown"] = shown
    return environment.from_string(files("granola.service").joinpath("static/page.html").read_text("utf-8"))


@cache
def asset(name: str) -> tuple[bytes, str]:
    """(bytes, ETag) of the page's style or script."""
    own = files("granola.service").joinpath(f"static/{name}").read_bytes()
    data = files("granola.report").joinpath(name).read_bytes() + own if name.endswith(".css") else own
    return data, '"' + base64.urlsafe_b64encode(hashlib.sha256(data).digest()[:18]).decode() + '"'
