"""The pages: `/`, a form and its ladder as in reports, which needs no script; `/docs`; the ladders of a dataset."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

from fastapi import Request, Response
from pydantic import ValidationError

from abstraction.files.rows import TieredRow, candidate_ids_of_link
from granola import __version__
from granola.matching import matcher
from granola.report.ladder_view import wikidata_url
from granola.report.score_page import prediction_view
from granola.report.templates import escape_invisible, page_file, render_page, with_visible_controls
from granola.scoring.metrics import names_of
from granola.scoring.predictions import Prediction
from granola.scoring.scores import ItemScore, score_item
from granola.service.gate import READING, route
from granola.service.limits import LONGEST, SNAPSHOT_HEADER, check_comparisons
from granola.service.problems import HTTPProblem, problem_of_errors, too_many_problem
from granola.service.routes import entity_briefs
from granola.service.schemas import LadderRequest
from granola.service.snapshots import ServedSnapshot, SnapshotSession

if TYPE_CHECKING:
    from granola.service.application import Service

MOST_PREDICTIONS = 100  # of one page, which shows them all
MOST_RIVALS = 20  # entities listed as other meanings of an answer
MOST_TEXT = 6_000  # characters of all predictions together: proxies refuse longer addresses
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-cache",
}
_HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, kw_only=True, slots=True)
class LadderForm:
    """The fields of the form for one ladder."""

    question: str = ""
    answer: str = ""
    relation: str = ""
    answer_qid: str = ""
    subject: str = ""
    subject_qid: str = ""
    language: str = "en"
    predictions: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> LadderForm:
        """The form from the query of an address; unknown fields are ignored, and control characters become visible
        signs.
        """
        known = {field.name for field in fields(cls)}
        given = {
            name: with_visible_controls(
                re.sub(r"[\t\r\n]+", " ", text).strip() if name != "predictions" else text.replace("\r\n", "\n")
            )
            for name, text in query.items()
            if name in known and text.strip()
        }
        if "language" in given:
            given["language"] = given["language"].lower().replace("_", "-")
        return cls(**given)

    def page_address(self) -> str:
        """The relative address of the page with the fields that differ from their defaults."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return "./" + (f"?{urlencode(given)}" if given else "") + "#ladder"

    def prediction_lines(self) -> list[str]:
        """The predictions, one per non-empty line. Raises HTTPProblem for too many."""
        lines = [line.strip() for line in self.predictions.splitlines() if line.strip()]
        if len(lines) > MOST_PREDICTIONS or len(self.predictions) > MOST_TEXT:
            detail = f"more than {MOST_PREDICTIONS} predictions or {MOST_TEXT:,} characters of them; `granola score` "
            raise too_many_problem("predictions", detail + "takes files of any length", MOST_PREDICTIONS)
        return lines

    def ladder_request(self) -> LadderRequest:
        """The request for the ladder. Raises HTTPProblem for a missing or invalid field."""
        if not self.question or not self.answer:
            raise HTTPProblem(422, "request", "give a question and its answer")
        data = {
            "question": self.question,
            "answer": self.answer,
            "relation": self.relation.upper(),
            "answer_qid": self.answer_qid.upper(),
            "question_entity": {"text": self.subject} if self.subject else None,
            "question_entity_qid": self.subject_qid.upper(),
            "language": self.language,
        }
        try:
            return LadderRequest.model_validate({key: value for key, value in data.items() if value})
        except ValidationError as error:
            raise problem_of_errors(error.errors()) from None


# Texts of the page: how an answer was linked, and advice per abstention.
_WORDS: dict[str, dict[str, str]] = json.loads(page_file("words.json"))
EXAMPLES = (
    LadderForm(question="Where was Barack Obama born?", answer="Honolulu"),
    LadderForm(question="Who is Yoko Ono married to?", answer="John Lennon"),
    LadderForm(question="Who performed Thriller?", answer="Michael Jackson"),
    LadderForm(question="Where is The Starry Night located?", answer="Museum of Modern Art"),
    LadderForm(question="Wo wurde Albert Einstein geboren?", answer="Ulm", language="de"),
    LadderForm(question="Où est né Pierre Curie ?", answer="Paris", language="fr"),
    LadderForm(question="¿Dónde nació Pierre Curie?", answer="París", language="es"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PageLadder:
    """A ladder, the names of entities of its question, the verdicts on predictions, and the size of the snapshot."""

    row: TieredRow
    names: Mapping[str, Mapping[str, Any]]
    entities: int
    items: Sequence[ItemScore] = ()


def page_ladder(session: SnapshotSession, row: TieredRow, language: str) -> PageLadder:
    """The ladder with the labels of the entities that its page shows."""
    subject = (row.question_entity or {}).get("qid")
    meant = [i for link in row.links for i in candidate_ids_of_link(link)[: MOST_RIVALS + 1]]
    names = entity_briefs(session, filter(None, (row.relation, subject, *meant)), language)
    return PageLadder(row=row, names=names, entities=session.manifest["counts"]["entities"])


def with_verdicts(found: PageLadder, lines: Sequence[str], language: str) -> PageLadder:
    """The same with a verdict per prediction. Raises HTTPProblem for too many comparisons."""
    check_comparisons([(list(map(len, lines)), [len(name) for names in names_of(found.row) for name in names])])
    chosen = matcher("rules", language=language)
    told = (Prediction(id=found.row.id, text=text) for text in lines)
    return replace(found, items=[score_item(found.row, one, chosen, 0.5) for one in told])


def answerable_examples(session: SnapshotSession) -> list[LadderForm]:
    """The example questions whose answers are in the snapshot."""
    known = session.store.find([one.answer for one in EXAMPLES])
    return [one for one in EXAMPLES if known.get(one.answer) and session.supports_language(one.language)]


def _interpretation(form: LadderForm, ladder: PageLadder) -> dict[str, Any]:
    """The relation and subject of the question, and the entity that each answer is linked to, each with its rivals and
    the address of the ladder for that choice.
    """

    def entity_with_links(entity_id: str) -> dict[str, Any]:
        told = ladder.names.get(entity_id) or {"id": entity_id, "label": None, "description": None}
        return {**told, "href": wikidata_url(entity_id), "choose": replace(form, answer_qid=entity_id).page_address()}

    row, about = ladder.row, ladder.row.question_entity or {}
    links = [
        {
            **entity_with_links(link["qid"]),
            "confidence": link["confidence"],
            "words": _WORDS["linked"].get(link.get("rule", ""), ""),
            "rivals": [entity_with_links(i) for i in candidate_ids_of_link(link)[1:] if i in ladder.names],
        }
        for link in row.links
        if link.get("qid") and link.get("confidence")
    ]
    subject = entity_with_links(about["qid"]) if about.get("qid") else None
    relation = entity_with_links(row.relation) if row.relation else None
    return {"relation": relation, "subject": subject, "about": about.get("text"), "links": links}


class Pages:
    """The page with the form and its ladder, the page of the interface, and the style and script of both."""

    def __init__(self, service: Service) -> None:
        self.service = service

    @route("/", READING, include_in_schema=False)
    async def form_page(self, request: Request) -> Response:
        """The page with the form and its ladder; an error is shown on the page, with its status."""
        form = LadderForm.from_query(request.query_params)
        status, retry, ladder, error = 200, {}, None, ""
        offered: list[LadderForm] = []
        with self.service.snapshots.current.kept_open() as served:
            try:
                offered = await served.run(answerable_examples)
                if form.question or form.answer:
                    ladder = await self._requested_ladder(served, form)
            except Exception as failed:
                problem = self.service.count_and_log_problem(failed)
                status, error = problem.status, problem.detail
                retry = {"Retry-After": str(problem.retry_after)} if problem.retry_after else {}
        row = ladder.row if ladder else None
        whole = json.dumps({"schema_version": 1, **row.to_json()}, ensure_ascii=False, indent=2) if row else ""
        plain = LadderForm(question=form.question, answer=form.answer, predictions=form.predictions)
        # All texts of the request and the snapshot are escaped by the template.
        page = render_page(
            "service",
            asked=form,
            has_more=form != plain,
            error=error,
            retry=bool(retry),
            dataset=self.service.settings.dataset is not None,
            examples=offered,
            row=row,
            read=_interpretation(form, ladder) if ladder else None,
            items=[prediction_view("", item) for item in ladder.items] if ladder else (),
            advice=_WORDS["advice"].get(row.abstained or "", "") if row else "",
            entities=ladder.entities if ladder else 0,
            json=escape_invisible(whole),
            snapshot=served.snapshot_id,
            version=__version__,
            longest=LONGEST,
            most_text=MOST_TEXT,
        )
        body = page.encode("utf-8", "replace")
        return Response(body, status, {SNAPSHOT_HEADER: served.snapshot_id, **_HEADERS, **retry}, media_type=_HTML)

    async def _requested_ladder(self, served: ServedSnapshot, form: LadderForm) -> PageLadder:
        """The requested ladder, and the verdicts on the predictions. Raises as `ServedSnapshot.run`."""
        sent, lines = form.ladder_request(), form.prediction_lines()
        row = await self.service.ladder(served, sent)
        found = await served.run(lambda session: page_ladder(session, row, sent.language))
        if not lines:
            return found
        seconds = self.service.settings.seconds
        return await self.service.matching.run(lambda _: with_verdicts(found, lines, sent.language), seconds=seconds)

    @route("/docs", READING, include_in_schema=False)
    async def interface_page(self) -> Response:
        """The page that shows the interface."""
        return Response(page_file("interface.html"), headers=_HEADERS, media_type=_HTML)

    @route("/page.{kind}", READING, include_in_schema=False)
    async def asset(self, kind: Literal["css", "js"]) -> Response:
        """The style or the script of the pages."""
        own = page_file(f"service.{kind}")
        media = "text/css" if kind == "css" else "text/javascript"
        body = page_file("shared.css") + own if kind == "css" else own
        return Response(body, headers={"Cache-Control": "no-cache"}, media_type=f"{media}; charset=utf-8")


class DatasetPage:
    """The page of the ladders of a dataset, which has a policy of its own."""

    def __init__(self, page: bytes) -> None:
        policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page.decode())
        own = {"Content-Security-Policy": f"{policy[1] if policy else ''}; frame-ancestors 'none'"}
        self._page, self._headers = page, {**_HEADERS, **own}

    @route("/dataset", READING, include_in_schema=False)
    async def dataset_page(self) -> Response:
        """The page with the ladders of the dataset."""
        return Response(self._page, headers=self._headers, media_type=_HTML)
