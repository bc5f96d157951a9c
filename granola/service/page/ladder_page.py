"""The page: a form, and the ladder of what was asked, as HTML that needs no script."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import orjson

from abstraction.files.cells import marked
from abstraction.reasons import REASONS
from abstraction.relations import table as relation_table
from abstraction.rows import TieredRow, granola_columns
from abstraction.tiers import Abstention, Tier
from granola import __version__
from granola.attribution.tier_checks import TierAttribution
from granola.matching import matcher
from granola.pages import evidence_rows
from granola.pages.templates import page_file, render_page
from granola.pages.visible_text import escaped
from granola.pages.wikidata_links import address
from granola.report.ladder_view import SHOWN_ALIASES
from granola.report.score_tables import number
from granola.scoring.items import ItemScore, names_of
from granola.scoring.predictions import Prediction, PredictionFile
from granola.scoring.scores import ScoreReport, score
from granola.scoring.tiered_file import TieredFile
from granola.service.incoming.limits import LONGEST, check_compared
from granola.service.page.example_questions import Example
from granola.service.page.page_form import MOST_TEXT, Asked, asked_as, swapped
from granola.service.page.page_words import ADVICE, LINKED, SCORES, rule_words
from granola.service.work import snapshot_work
from granola.service.work.entities import set_aside
from granola.service.work.snapshot_session import SnapshotSession
from kg.walks.ranks import current

MOST_CARRIERS = 20  # entities that are asked whether they are the one asked about
MOST_RIVALS = 20  # entities that are named as what the answer may mean, too
SHORT_EVIDENCE = 6  # rows of evidence that stand there unasked
SHOWN_PAST = 8
DECLINED = "I don’t know"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundLadder:
    """What a reader's thread finds for the page.

    `names` has an id, a label, a description and a kind (what it is an instance of) for each id. `is_spoken` unless
    there is nothing in the language that was asked for. The snapshot has so many `entities`.
    """

    row: TieredRow
    is_spoken: bool
    past: Sequence[Mapping[str, Any]]
    names: Mapping[str, Mapping[str, Any]]
    attributed: Mapping[tuple[int, int], TierAttribution]
    entities: int = 0

    @property
    def links(self) -> Sequence[Mapping[str, Any]]:
        """How the answers found their entities."""
        links: Sequence[Mapping[str, Any]] = self.row.extra.get("links", ())
        return links


def find(session: SnapshotSession, made: TieredRow, language: str) -> FoundLadder:
    """What does not hold today of what a ladder rests on or was asked for, and the names of all of it."""
    links = made.extra.get("links", ())
    answers = [note["qid"] for note in links if note.get("qid")]
    subject = _subject(session, made, answers)
    meant = [*answers, *(i for note in links for i in note.get("rivals", ())[:MOST_RIVALS])]
    names = snapshot_work.named(session, [*filter(None, (made.relation, subject)), *meant], language)
    kinds = _kinds(session, meant, language)
    return FoundLadder(
        row=made,
        is_spoken=session.speaks(language),
        past=_past(session, made, subject, language),
        names={i: {**name, "kind": kinds.get(i, "")} for i, name in names.items()},
        attributed={(check.level, check.position): check for check in session.attributor(language).checked(made)},
        entities=session.manifest["counts"]["entities"],
    )


def _past(session: SnapshotSession, made: TieredRow, subject: str | None, language: str) -> list[Mapping[str, Any]]:
    """Statements that do not hold today, of what was asked for and of what the ladder rests on."""
    steps = [e for level in made.levels for tier in level.tiers for e in tier.evidence if e.kind == "statement"]
    pairs = [(subject, made.relation)] if subject and made.relation else []
    pairs += [(step.subject, step.property) for step in steps if step.subject and step.property]
    used = {step.statement for step in steps}
    return [fact for fact in set_aside(session, pairs, language=language) if fact["id"] not in used]


def _kinds(session: SnapshotSession, ids: Sequence[str], language: str) -> dict[str, str]:
    """By id, the first label of what an entity is an instance of today; for a human, nothing that tells anything."""
    entities = session.store.entities(list(dict.fromkeys(ids)), properties=["P31"])
    classes = {i: next((s.target for s in current(e.statements) if s.target), None) for i, e in entities.items()}
    labels = snapshot_work.named(session, filter(None, classes.values()), language)
    return {i: labels[of]["label"] or "" for i, of in classes.items() if of in labels}


def _subject(session: SnapshotSession, row: TieredRow, answers: Sequence[str]) -> str | None:
    """The entity asked about; where the ladder had no need of it, the one of this very name that has this answer."""
    about = row.question_entity or {}
    if about.get("qid") or not (about.get("text") and row.relation and answers):
        return about.get("qid")
    text = about["text"]
    carriers = [match.id for match in session.store.find([text]).get(text, ()) if match.kind == "label"]
    entities = session.store.entities(list(dict.fromkeys(carriers))[:MOST_CARRIERS], properties=[row.relation])
    having = {e.id for e in entities.values() if any(s.target in answers for s in e.statements)}
    return having.pop() if len(having) == 1 else None


def judge(row: TieredRow, lines: Sequence[str], *, language: str, snapshot: str) -> ScoreReport:
    """The scores of predictions that all answer one question. Raises HTTPProblem for too many."""
    check_compared([(list(map(len, lines)), [len(name) for names in names_of(row) for name in names])])
    rows = [replace(row, id=str(n)) for n in range(1, len(lines) + 1)]
    predictions = {str(n): Prediction(id=str(n), text=text) for n, text in enumerate(lines, 1)}
    return score(
        TieredFile(rows=rows, snapshot=snapshot),
        PredictionFile(name="predictions", predictions=predictions),
        matcher("rules", language=language),
    )


def render(
    asked: Asked,
    *,
    snapshot: str,
    examples: Sequence[Example] = (),
    ladder: FoundLadder | None = None,
    report: ScoreReport | None = None,
    error: str | None = None,
    retry: bool = False,
    has_model: bool = False,
    opening: tuple[Asked, FoundLadder] | None = None,
) -> bytes:
    """The page's bytes. All that was sent or is in the snapshot stands there as text; `retry` offers to ask again,
    `has_model` a ladder in the words of a model; `opening` is an example whose ladder is shown where nothing is asked.
    """
    plain = Asked(question=asked.question, answer=asked.answer, predictions=asked.predictions, phrase=asked.phrase)
    slots: dict[str, Any] = {
        "asked": asked,
        "has_more": asked != plain,
        "error": error,
        "row": ladder.row if ladder else None,
        "examples": [
            {
                "kind": e.kind,
                "language": e.language,
                "question": e.question,
                "answer": e.answer,
                "href": asked_as(e).address() + "#ladder",
            }
            for e in examples
        ],
        "swapped": swapped(asked),
        "is_example": opening is not None,
        "retry": retry,
        "has_model": has_model,
        "again": asked.address() + "#ladder",
        "snapshot": snapshot,
        "version": __version__,
        "longest": LONGEST,
        "most_text": MOST_TEXT,
    }
    if opening:
        slots |= {"row": opening[1].row} | _result(*opening, None)
    if ladder:
        slots |= _result(asked, ladder, report)
    return render_page("service", **slots).encode("utf-8", "replace")


def _result(asked: Asked, ladder: FoundLadder, report: ScoreReport | None) -> dict[str, Any]:
    row = ladder.row
    items = report.items if report else ()
    most = max((t.bits or 0.0 for level in row.levels for t in level.tiers), default=0.0)
    levels = []
    for depth, level in enumerate(row.levels, 1):
        levels.append(
            {
                "number": depth,
                "tiers": [
                    {**_tier(tier, ladder, most), "attributed": ladder.attributed.get((depth, place))}
                    for place, tier in enumerate(level.tiers, 1)
                ],
                "matched": [item.prediction for item in items if item.verdict and item.verdict.level == depth],
            }
        )
    past = [dict(zip(("row", "why"), evidence_rows.past(statement), strict=True)) for statement in ladder.past]
    return {
        "language": asked.language if ladder.is_spoken else "en",
        "unspoken": "" if ladder.is_spoken else asked.language,
        "phrasing": _phrasing(row),
        "read": _read(asked, ladder),
        "levels": levels,
        "reason": REASONS.get(Abstention(row.abstained), "") if row.abstained else "",
        "advice": ADVICE.get(row.abstained or "", ""),
        "entities": ladder.entities,
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


def _read(asked: Asked, ladder: FoundLadder) -> dict[str, Any]:
    """What the question was read as asking, and whom its answers mean; rivals lead to the ladder of theirs."""
    row = ladder.row
    about = row.question_entity or {}
    known = relation_table().get(row.relation or "")
    links = [
        {
            **_chosen(note["qid"], asked, ladder),
            "confidence": note["confidence"],
            "share": note.get("share"),
            "words": LINKED.get(note.get("rule", ""), ""),
            "rivals": [_chosen(rival, asked, ladder) for rival in note.get("rivals", ()) if rival in ladder.names],
        }
        for note in ladder.links
        if note.get("qid") and note.get("confidence")
    ]
    return {
        "relation": {**_entity(row.relation, ladder), "known": known.label if known else None}
        if row.relation
        else None,
        "subject": _entity(about["qid"], ladder) if about.get("qid") else None,
        "about": about.get("text"),
        "links": links,
    }


def _chosen(entity_id: str, asked: Asked, ladder: FoundLadder) -> dict[str, Any]:
    """An entity with the address of the page that takes it for the answer."""
    return {
        **_entity(entity_id, ladder),
        "choose": replace(asked, answer_qid=entity_id).address() + "#ladder",
    }


def _entity(entity_id: str, ladder: FoundLadder) -> dict[str, Any]:
    named = ladder.names.get(entity_id, {"label": None, "description": None, "kind": ""})
    texts = {key: named[key] for key in ("label", "description", "kind")}
    return {"id": entity_id, "href": address(entity_id), **texts}


def _tier(tier: Tier, ladder: FoundLadder, most: float) -> dict[str, Any]:
    rows = evidence_rows.rows(tier.evidence)
    starts = {row.start for row in rows if row.anew}
    candidates = {entity_id for note in ladder.links for entity_id in (note.get("qid"), *note.get("rivals", ()))}
    return {
        "text": tier.text,
        "language": tier.language,
        "qid": tier.qid,
        "href": address(tier.qid) if tier.qid else None,
        "bits": tier.bits,
        "share": round(100 * tier.bits / most, 1) if tier.bits is not None and most else None,
        "also": tier.aliases[:SHOWN_ALIASES],
        "more": max(0, len(tier.aliases) - SHOWN_ALIASES),
        "rows": rows,
        "is_short": len(rows) <= SHORT_EVIDENCE,
        # Of an answer that may mean several entities, each has its own way.
        "meant": {entity_id: _entity(entity_id, ladder) for entity_id in candidates if entity_id}
        if starts & candidates
        else {},
    }


def _item(item: ItemScore) -> dict[str, Any]:
    rule = item.verdict.rule if item.verdict else ""
    return {
        "prediction": item.prediction,
        "scored": item,
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
        {"title": m.title, "words": SCORES[m.name], "value": number(e.value), "n": e.n}
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
def asset(name: str) -> tuple[bytes, str]:
    """(bytes, ETag) of the page's style or script."""
    own = page_file(name.replace("page", "service"))
    data = page_file("shared.css") + own if name.endswith(".css") else own
    return data, '"' + base64.urlsafe_b64encode(hashlib.sha256(data).digest()[:18]).decode() + '"'
