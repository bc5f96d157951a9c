"""A client of the service, with the library's own calls.

    with Client("http://127.0.0.1:8080") as service:
        for row in service.make_ladders(read_questions(["questions.jsonl"])):
            ...

A batch that is cut off, or refused because the service has too much to do, is asked again from where it stopped.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import orjson
import requests

from abstraction.rows import QARow, TieredRow
from granola.errors import ServiceUnusableError
from granola.matching import Comparison, Verdict
from granola.service.settings import is_service

TOKEN = "GRANOLA_TOKEN"
ROWS_A_REQUEST = 500
PHRASED_A_REQUEST = 64
CONNECT_SECONDS = 10.0
T = TypeVar("T")


class Client:
    """A service at `address`, as "http://127.0.0.1:8080". Of one thread.

    `token` is sent with every request, by default that of GRANOLA_TOKEN. `patience` is how many seconds in a row a
    service that is overloaded or away is asked again, `seconds` how long one answer may stay out.
    """

    def __init__(
        self, address: str, *, token: str | None = None, patience: float = 60.0, seconds: float = 120.0
    ) -> None:
        parts = urlsplit(address)
        if not is_service(address) or not parts.hostname or parts.username or parts.password:
            raise ServiceUnusableError(
                "no address of a service; expected one as http://127.0.0.1:8080, without a name or a password in it"
            )
        self.address = address.rstrip("/")
        self._patience = patience
        self._seconds = seconds
        self._session = requests.Session()
        given = token if token is not None else os.environ.get(TOKEN)
        if given:
            self._session.headers["Authorization"] = f"Bearer {given}"
        self._snapshot: str | None = None

    def make_ladders(
        self,
        rows: Iterable[QARow],
        *,
        language: str = "en",
        linker: str = "question",
        phrase: str | None = None,
        unproven: str = "keep",
    ) -> Iterator[TieredRow]:
        """Tiered rows of the questions, in order, as `abstraction.pipeline.make_ladders` makes them.

        `phrase`, "free" or "word", has the service's model word them, as `granola tiers --phrase`. Raises
        ServiceUnusableError where the service does not answer, refuses, or takes up another snapshot meanwhile.
        """
        source = iter(rows)
        settings = {"language": language, "linker": linker, **_phrasing(phrase, unproven)}
        while chunk := list(islice(source, ROWS_A_REQUEST if phrase is None else PHRASED_A_REQUEST)):
            made = 0
            until: float | None = None
            while made < len(chunk):
                before = made
                try:
                    for record in self._lines([question_json(row) for row in chunk[made:]], settings):
                        yield _tiered(record, chunk[made])
                        made += 1
                except _AgainError as again:
                    until = self._wait(again, None if made > before else until)

    def make(
        self,
        row: QARow,
        *,
        language: str = "en",
        linker: str = "question",
        phrase: str | None = None,
        unproven: str = "keep",
    ) -> TieredRow:
        """The tiered row of one question, as `LadderMaker.make`; `phrase` as in `make_ladders`."""
        asked = {**question_json(row), "language": language, "linker": linker, **_phrasing(phrase, unproven)}
        return _tiered(self._json("POST", "/v1/ladder", asked), row)

    def link(self, row: QARow, *, language: str = "en", linker: str = "question") -> dict[str, Any]:
        """How the answers of a question find their entities: the links, and the entities that they name."""
        return self._json("POST", "/v1/link", {**question_json(row), "language": language, "linker": linker})

    def aggregate(self, question: str, samples: Sequence[str], **settings: Any) -> dict[str, Any]:
        """One answer of several responses to a question, as a row of `granola aggregate`.

        `settings` are those of the endpoint: method, support, weigh, counting, abstaining, language, linker, relation.
        """
        return self._json("POST", "/v1/aggregate", {"question": question, "samples": list(samples), **settings})

    def match(
        self,
        predictions: Sequence[str],
        levels: Sequence[Sequence[str]],
        question: str | None = None,
        *,
        matcher: str = "rules",
        tau: float | None = None,
        language: str = "en",
    ) -> list[Verdict]:
        """The verdict on each prediction, as a matcher's `match` gives it."""
        asked = {
            "predictions": list(predictions), "levels": [list(names) for names in levels], "question": question,
            "matcher": matcher, "tau": tau, "language": language,
        }  # fmt: skip
        return [_verdict(item) for item in self._json("POST", "/v1/match", asked)["items"]]

    def score(self, rows: Iterable[TieredRow], predictions: Mapping[str, str], **settings: Any) -> dict[str, Any]:
        """What `granola score --json` prints of these predictions, by id, with the items under "items".

        `settings` are those of the endpoint: matcher, tau, lambda, resamples, seed, system, allow_missing,
        ignore_unknown, snapshot.
        """
        given = [{"id": key, "prediction": text} for key, text in predictions.items()]
        return self._json(
            "POST", "/v1/score", {"rows": [row.to_json() for row in rows], "predictions": given, **settings}
        )

    def entity(self, entity_id: str, *, language: str = "en") -> dict[str, Any] | None:
        """An entity with its statements; None where the snapshot lacks it."""
        try:
            return self._json("GET", f"/v1/entity/{quote(entity_id, safe='')}", {"language": language})
        except ServiceUnusableError as error:
            if error.code == "unknown-entity":
                return None
            raise

    def search(self, name: str, *, language: str = "en", limit: int = 20) -> dict[str, Any]:
        """Entities that carry a name."""
        return self._json("GET", "/v1/search", {"name": name, "language": language, "limit": limit})

    def manifest(self) -> dict[str, Any]:
        """The manifest of the snapshot that is served."""
        return self._json("GET", "/v1/snapshot", {})

    @property
    def snapshot_id(self) -> str:
        """The snapshot that all answers were from so far; asks the service where there was none."""
        if self._snapshot is None:
            self.manifest()
        assert self._snapshot is not None
        return self._snapshot

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _json(self, method: str, path: str, given: Mapping[str, Any]) -> dict[str, Any]:
        until: float | None = None
        while True:
            try:
                with self._asked(method, path, given, {}) as got:
                    found: dict[str, Any] = orjson.loads(got.content)
                    return found
            except _AgainError as again:
                until = self._wait(again, until)
            except orjson.JSONDecodeError as error:
                raise ServiceUnusableError(f"{self.address} answers no JSON; is it a granola service?") from error

    def _lines(self, rows: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        body = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
        with self._asked("POST", "/v1/ladders", body, settings) as got:
            try:
                for line in got.iter_lines(chunk_size=1 << 16):
                    record = orjson.loads(line)
                    if "problem" in record and "levels" not in record:
                        raise _AgainError(record["problem"]["detail"], 1.0)
                    yield record
            except (requests.RequestException, orjson.JSONDecodeError) as error:
                raise _AgainError(f"the answer was cut off: {error}", 0.1) from error

    def _asked(
        self, method: str, path: str, given: Mapping[str, Any] | bytes, query: Mapping[str, Any]
    ) -> requests.Response:
        """The answer, its body still to be read. Raises _AgainError where asking again may help."""
        options: dict[str, Any] = {"params": query}
        if isinstance(given, bytes):
            options |= {"data": given, "headers": {"Content-Type": "application/x-ndjson"}, "stream": True}
        elif method == "GET":
            options["params"] = given
        else:
            options |= {"data": orjson.dumps(given), "headers": {"Content-Type": "application/json"}}
        try:
            got = self._session.request(
                method, self.address + path, timeout=(CONNECT_SECONDS, self._seconds), allow_redirects=False, **options
            )
        except requests.RequestException as error:
            raise _AgainError(f"does not answer: {_why(error)}", 0.5) from error
        if got.status_code == 200:
            self._check_snapshot(got)
            return got
        with got:
            try:
                problem = orjson.loads(got.content)
                detail, code = str(problem["detail"]), str(problem["code"])
            except (orjson.JSONDecodeError, requests.RequestException, KeyError, TypeError):
                detail, code = f"status {got.status_code} without a problem document; is it a granola service?", None
            if got.status_code in (429, 503):
                raise _AgainError(detail, _retry_after(got))
        raise ServiceUnusableError(f"{self.address}: {detail}", code=code)

    def _check_snapshot(self, got: requests.Response) -> None:
        named = got.headers.get("Granola-Snapshot")
        if named is None:
            got.close()
            raise ServiceUnusableError(f"{self.address} names no snapshot; is it a granola service?")
        if self._snapshot is not None and named != self._snapshot:
            got.close()
            raise ServiceUnusableError(
                f"{self.address} has taken up another snapshot ({named[:8]} after {self._snapshot[:8]}); start again, "
                "so that all rows are from one"
            )
        self._snapshot = named

    def _wait(self, again: _AgainError, until: float | None) -> float:
        """Sleep before the next try and return when to give up; `until` None begins a new row of tries."""
        now = time.monotonic()
        until = now + self._patience if until is None else until
        if now + again.seconds > until:
            raise ServiceUnusableError(f"{self.address}: {again}; asked for {self._patience:g} s in vain") from again
        time.sleep(again.seconds)
        return until


class _AgainError(Exception):
    """Asking again after `seconds` may help."""

    def __init__(self, why: str, seconds: float) -> None:
        super().__init__(why)
        self.seconds = seconds


def question_json(row: QARow) -> dict[str, Any]:
    """A question as a row of a file that reads as the same question."""
    out: dict[str, Any] = {"id": row.id, "question": row.question}
    if row.relation is not None:
        out["relation"] = row.relation
    entity = {key: value for key, value in (("text", row.subject_text), ("qid", row.subject_qid)) if value}
    if entity:
        out["question_entity"] = entity
    out["answer"] = list(row.answers)
    if any(row.answer_qids):
        out["answer_qids"] = list(row.answer_qids)
    for key, value in row.extra.items():
        out.setdefault(key, value)
    return out


def _phrasing(phrase: str | None, unproven: str) -> dict[str, str]:
    return {} if phrase is None else {"phrase": phrase, "unproven": unproven}


def _tiered(record: Mapping[str, Any], asked: QARow) -> TieredRow:
    if "rejected" in record and "levels" not in record:
        raise ServiceUnusableError(
            f"{asked.source or asked.id}: the service rejects it: {record['rejected']['reason']}"
        )
    return TieredRow.from_json(record)


def _verdict(item: Mapping[str, Any]) -> Verdict:
    compared = item["compared"]
    return Verdict(
        level=item["level"],
        rule=item["rule"],
        compared=Comparison(prediction=compared["prediction"], tier=compared["tier"]) if compared else None,
        abstained=item["abstained"],
        score=item["score"],
    )


def _retry_after(got: requests.Response) -> float:
    try:
        seconds = float(got.headers.get("Retry-After", "1"))
    except ValueError:
        return 1.0
    return min(max(seconds, 0.05), 30.0) if math.isfinite(seconds) else 1.0


def _why(error: Exception) -> str:
    """The innermost reason, without the machinery around it."""
    reason = getattr(error.args[0], "reason", error.args[0]) if error.args else error
    return str(reason).rpartition(": ")[2] or type(error).__name__
