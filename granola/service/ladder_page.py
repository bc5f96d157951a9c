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
from granola.service.limits import LONGEST, SNAPSHOT_HEADER, check_compared
from granola.service.problems import HTTPProblem, problem_of_errors, too_many
from granola.service.routes import named
from granola.service.schemas import LadderRequest
from granola.service.snapshots import Generation, SnapshotSession

if TYPE_CHECKING:
    from granola.service.application import Service

MOST_PREDICTIONS = 100
MOST_RIVALS = 20  # entities that are named as what the answer may mean, too
MOST_TEXT = 6_000  # characters of all predictions: addresses that are longer get lost on their way
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-cache",
}
_HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """The values of the form."""

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
        """The fields of an address; others mean nothing. Control characters become signs, which can be seen."""
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

    def address(self) -> str:
        """The page's address with what was filled in, and nothing else."""
        given = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return "./" + (f"?{urlencode(given)}" if given else "") + "#ladder"

    def lines(self) -> list[str]:
        """The predictions. Raises HTTPProblem for too many."""
        lines = [line.strip() for line in self.predictions.splitlines() if line.strip()]
        if len(lines) > MOST_PREDICTIONS or len(self.predictions) > MOST_TEXT:
            detail = f"more than {MOST_PREDICTIONS} predictions or {MOST_TEXT:,} characters of them; `granola score` "
            raise too_many("predictions", detail + "takes files of any length", MOST_PREDICTIONS)
        return lines

    def request(self) -> LadderRequest:
        """The request for the ladder. Raises HTTPProblem where a field is not as it must be."""
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


_WORDS: dict[str, dict[str, str]] = json.loads(page_file("words.json"))  # of how answers were linked, and what to do
EXAMPLES = (
    Asked(question="Where was Barack Obama born?", answer="Honolulu"),
    Asked(question="Who is Yoko Ono married to?", answer="John Lennon"),
    Asked(question="Who performed Thriller?", answer="Michael Jackson"),
    Asked(question="Where is The Starry Night located?", answer="Museum of Modern Art"),
    Asked(question="Wo wurde Albert Einstein geboren?", answer="Ulm", language="de"),
    Asked(question="Où est né Pierre Curie ?", answer="Paris", language="fr"),
    Asked(question="¿Dónde nació Pierre Curie?", answer="París", language="es"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundLadder:
    """A ladder, the names of the entities in its question, the verdicts on predictions, and the size of the snapshot.
    """

    row: TieredRow
    names: Mapping[str, Mapping[str, Any]]
    entities: int
    items: Sequence[ItemScore] = ()


def find(session: SnapshotSession, row: TieredRow, language: str) -> FoundLadder:
    """A ladder with the names that its page needs."""
    subject = (row.question_entity or {}).get("qid")
    meant = [i for link in row.links for i in candidate_ids_of_link(link)[: MOST_RIVALS + 1]]
    names = named(session, filter(None, (row.relation, subject, *meant)), language)
    return FoundLadder(row=row, names=names, entities=session.manifest["counts"]["entities"])


def judge(found: FoundLadder, lines: Sequence[str], language: str) -> FoundLadder:
    """The same with the verdicts on predictions. Raises HTTPProblem for too many."""
    check_compared([(list(map(len, lines)), [len(name) for names in names_of(found.row) for name in names])])
    chosen = matcher("rules", language=language)
    told = (Prediction(id=found.row.id, text=text) for text in lines)
    return replace(found, items=[score_item(found.row, one, chosen, 0.5) for one in told])


def examples(session: SnapshotSession) -> list[Asked]:
    """Questions to begin with: those whose answers the snapshot has."""
    known = session.store.find([one.answer for one in EXAMPLES])
    return [one for one in EXAMPLES if known.get(one.answer) and session.speaks(one.language)]


def _interpretation(asked: Asked, ladder: FoundLadder) -> dict[str, Any]:
    """The relation and subject that were read from the question, and the links of its answers, each rival with the
    address of its ladder.
    """

    def entity_with_links(entity_id: str) -> dict[str, Any]:
        told = ladder.names.get(entity_id) or {"id": entity_id, "label": None, "description": None}
        return {**told, "href": wikidata_url(entity_id), "choose": replace(asked, answer_qid=entity_id).address()}

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
    """The form with its ladder, the page of the interface, and what both load."""

    def __init__(self, service: Service) -> None:
        self.service = service

    @route("/", READING, include_in_schema=False)
    async def look(self, request: Request) -> Response:
        """The form and its ladder. An error is shown on the page, with its status."""
        asked = Asked.of(request.query_params)
        status, retry, ladder, error = 200, {}, None, ""
        offered: list[Asked] = []
        with self.service.snapshots.current.held() as generation:
            try:
                offered = await generation.run(examples)
                if asked.question or asked.answer:
                    ladder = await self._found(generation, asked)
            except Exception as failed:
                problem = self.service.problem(failed)
                status, error = problem.status, problem.detail
                retry = {"Retry-After": str(problem.retry_after)} if problem.retry_after else {}
        row = ladder.row if ladder else None
        whole = json.dumps({"schema_version": 1, **row.to_json()}, ensure_ascii=False, indent=2) if row else ""
        plain = Asked(question=asked.question, answer=asked.answer, predictions=asked.predictions)
        # All texts of the request and the snapshot are escaped by the template.
        page = render_page(
            "service",
            asked=asked,
            has_more=asked != plain,
            error=error,
            retry=bool(retry),
            dataset=self.service.settings.dataset is not None,
            examples=offered,
            row=row,
            read=_interpretation(asked, ladder) if ladder else None,
            items=[prediction_view("", item) for item in ladder.items] if ladder else (),
            advice=_WORDS["advice"].get(row.abstained or "", "") if row else "",
            entities=ladder.entities if ladder else 0,
            json=escape_invisible(whole),
            snapshot=generation.snapshot_id,
            version=__version__,
            longest=LONGEST,
            most_text=MOST_TEXT,
        )
        body = page.encode("utf-8", "replace")
        return Response(body, status, {SNAPSHOT_HEADER: generation.snapshot_id, **_HEADERS, **retry}, media_type=_HTML)

    async def _found(self, generation: Generation, asked: Asked) -> FoundLadder:
        """The ladder that is asked for, and the verdicts on the predictions. Raises as `Generation.run`."""
        sent, lines = asked.request(), asked.lines()
        row = await self.service.ladder(generation, sent)
        found = await generation.run(lambda session: find(session, row, sent.language))
        if not lines:
            return found
        seconds = self.service.settings.seconds
        return await self.service.bench.run(lambda _: judge(found, lines, sent.language), seconds=seconds)

    @route("/docs", READING, include_in_schema=False)
    async def documentation(self) -> Response:
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
    async def dataset(self) -> Response:
        """The page."""
        return Response(self._page, headers=self._headers, media_type=_HTML)
