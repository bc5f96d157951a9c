"""A client of the service, with the library's own calls.

    with Client("http://127.0.0.1:8080") as service:
        for row in service.make_ladders(read_questions(["questions.jsonl"])):
            ...

A batch that is cut off, or refused because the service has too much to do, is asked again from where it stopped.
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlsplit

import orjson
import requests

from abstraction.row_languages import row_language
from abstraction.rows import QARow, RejectedRow, TieredRow
from granola.errors import ServiceUnusableError
from granola.matching import Verdict
from granola.service.client_rows import levels_of, question_json, rejected_of, texts_of, tiered_of, verdict_of
from granola.service.service_settings import is_service

TOKEN = "GRANOLA_TOKEN"
ROWS_A_REQUEST = 500
PHRASED_A_REQUEST = 64
CONNECT_SECONDS = 10.0
UNKNOWN_SECONDS = 5.0  # how long a service is waited for that has never answered
TOLD_SECONDS = 2.0  # after which somebody is told what is waited for
SETTINGS = frozenset({"language", "linker", "phrase", "unproven"})  # fields of a request about one question
TOO_MUCH = frozenset({"body-size", "too-many-rows", "too-many-values", "too-much-work"})
log = logging.getLogger("granola.service.client")


class Client:
    """A service at `address`, as "http://127.0.0.1:8080". Of one thread.

    `token` is sent with every request, by default that of GRANOLA_TOKEN. `patience` is how many seconds in a row a
    service that is overloaded or away is asked again, at most five where it has never answered; `seconds` how long one
    answer may stay out. With `pinned` all answers must be from one snapshot, otherwise those of one `make_ladders`.
    """

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        patience: float = 60.0,
        seconds: float = 120.0,
        pinned: bool = False,
    ) -> None:
        if not _is_plain(address):
            raise ServiceUnusableError(
                "no address of a service; expected one as http://127.0.0.1:8080, without a name, a password or a query "
                f"in it: {TOKEN} holds the token"
            )
        self.address = address.rstrip("/")
        self._patience = patience
        self._seconds = seconds
        self._session = requests.Session()
        given = token if token is not None else os.environ.get(TOKEN)
        if given:
            self._session.headers["Authorization"] = f"Bearer {given}"
        self._snapshot: str | None = None
        self._pin = _Pin() if pinned else None
        self._has_answered = False
        self._told: float | None = None  # the end of the wait that was told last

    def make_ladders(
        self,
        rows: Iterable[QARow],
        *,
        language: str = "en",
        linker: str = "question",
        phrase: str | None = None,
        unproven: str = "keep",
        on_reject: Callable[[RejectedRow], None] | None = None,
    ) -> Iterator[TieredRow]:
        """Tiered rows of the questions, in order, as `abstraction.pipeline.make_ladders` makes them.

        `phrase`, "free" or "word", has the service's model word them, as `granola tiers --phrase`. Rows that the
        service rejects go to `on_reject`; without it they raise ServiceUnusableError, as does a service that does not
        answer, refuses, or takes up another snapshot meanwhile.
        """
        settings = {"linker": linker, **_phrasing(phrase, unproven)}
        pin = self._pin or _Pin()
        for code, together in groupby(rows, key=lambda row: row_language(row, language)):
            yield from self._made(together, {"language": code, **settings}, pin, phrase, on_reject)

    def _made(
        self,
        rows: Iterable[QARow],
        settings: Mapping[str, Any],
        pin: _Pin,
        phrase: str | None,
        on_reject: Callable[[RejectedRow], None] | None,
    ) -> Iterator[TieredRow]:
        """Tiered rows of questions of one language."""
        source = iter(rows)
        most = ROWS_A_REQUEST if phrase is None else PHRASED_A_REQUEST
        while chunk := list(islice(source, most)):
            made = 0
            until: float | None = None
            while made < len(chunk):
                before = made
                try:
                    for record in self._lines([question_json(row) for row in chunk[made : made + most]], settings, pin):
                        row = tiered_of(record, chunk[made])
                        made += 1
                        if isinstance(row, TieredRow):
                            yield row
                        else:
                            _reject(row, on_reject)
                except _AgainError as again:
                    until = self._wait(again, None if made > before else until)
                except ServiceUnusableError as error:
                    if error.code not in TOO_MUCH:
                        raise
                    if most > 1:
                        most //= 2
                        continue
                    _reject(rejected_of(chunk[made], str(error)), on_reject)
                    made += 1

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
        if row.extra.keys() & SETTINGS:  # handed on in a batch; alone they would be taken for settings
            settings = {"language": language, "linker": linker, **_phrasing(phrase, unproven)}
            (made,) = self._made([row], settings, self._pin or _Pin(), phrase, None)
            return made
        asked = {**question_json(row), "language": language, "linker": linker, **_phrasing(phrase, unproven)}
        return TieredRow.from_json(self._json("POST", "/v1/ladder", asked))

    def link(self, row: QARow, *, language: str = "en", linker: str = "question") -> dict[str, Any]:
        """How the answers of a question find their entities: the links, and the entities that they name."""
        return self._json("POST", "/v1/link", {**question_json(row), "language": language, "linker": linker})

    def aggregate(self, question: str, samples: Sequence[str], **settings: Any) -> dict[str, Any]:
        """One answer of several responses to a question, as a row of `granola aggregate`.

        `settings` are those of the endpoint: method, support, counting, abstaining, language, linker, relation.
        """
        asked = {"question": question, "samples": texts_of(samples, "samples"), **settings}
        return self._json("POST", "/v1/aggregate", asked)

    def match(
        self,
        prediction: str,
        levels: Sequence[Sequence[str]],
        question: str | None = None,
        *,
        matcher: str = "rules",
        tau: float | None = None,
        language: str = "en",
    ) -> Verdict:
        """The verdict on a prediction, as a matcher's `match` gives it."""
        if not isinstance(prediction, str):
            raise TypeError(f"match takes one text, not {prediction!r:.80}; match_all takes several")
        (found,) = self.match_all([prediction], levels, question, matcher=matcher, tau=tau, language=language)
        return found

    def match_all(
        self,
        predictions: Sequence[str],
        levels: Sequence[Sequence[str]],
        question: str | None = None,
        *,
        matcher: str = "rules",
        tau: float | None = None,
        language: str = "en",
    ) -> list[Verdict]:
        """The verdict on each prediction, in one request, or in several where that is too much for one."""
        given = texts_of(predictions, "predictions")
        asked = {
            "predictions": given, "levels": levels_of(levels), "question": question,
            "matcher": matcher, "tau": tau, "language": language,
        }  # fmt: skip
        try:
            return [verdict_of(item) for item in self._json("POST", "/v1/match", asked)["items"]]
        except ServiceUnusableError as error:
            if error.code not in TOO_MUCH or len(given) < 2:
                raise
        half = len(given) // 2
        return [
            verdict
            for part in (given[:half], given[half:])
            for verdict in self.match_all(part, levels, question, matcher=matcher, tau=tau, language=language)
        ]

    def score(
        self, rows: Iterable[TieredRow], predictions: Mapping[str, str], *, lambda_: float = 0.5, **settings: Any
    ) -> dict[str, Any]:
        """What `granola score --json` prints of these predictions, by id, with the items under "items".

        `settings` are those of the endpoint: matcher, tau, resamples, seed, system, allow_missing, ignore_unknown,
        snapshot, prompts, asked, standard.
        """
        given = [{"id": key, "prediction": text} for key, text in predictions.items()]
        asked = {"rows": [row.to_json() for row in rows], "predictions": given, "lambda": lambda_, **settings}
        return self._json("POST", "/v1/score", asked)

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
        """The snapshot that the last answer was from; asks the service where there was none."""
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
                with self._asked(method, path, given, {}, self._pin) as got:
                    found: dict[str, Any] = orjson.loads(got.content)
                    return found
            except _AgainError as again:
                until = self._wait(again, until)
            except orjson.JSONDecodeError as error:
                raise ServiceUnusableError(f"{self.address} answers no JSON; is it a granola service?") from error

    def _lines(
        self, rows: Sequence[Mapping[str, Any]], settings: Mapping[str, Any], pin: _Pin
    ) -> Iterator[dict[str, Any]]:
        body = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
        with self._asked("POST", "/v1/ladders", body, settings, pin) as got:
            try:
                for line in got.iter_lines(chunk_size=1 << 16):
                    record = orjson.loads(line)
                    if "problem" in record and "levels" not in record:
                        raise _AgainError(record["problem"]["detail"], 1.0)
                    yield record
            except (requests.RequestException, orjson.JSONDecodeError) as error:
                raise _AgainError(f"the answer was cut off: {error}", 0.1) from error

    def _asked(
        self,
        method: str,
        path: str,
        given: Mapping[str, Any] | bytes,
        query: Mapping[str, Any],
        pin: _Pin | None,
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
        self._has_answered = True
        if got.status_code == 200:
            self._check_snapshot(got, pin)
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

    def _check_snapshot(self, got: requests.Response, pin: _Pin | None) -> None:
        named = got.headers.get("Granola-Snapshot")
        if named is None:
            got.close()
            raise ServiceUnusableError(f"{self.address} names no snapshot; is it a granola service?")
        if pin is not None and pin.snapshot not in (None, named):
            got.close()
            raise ServiceUnusableError(
                f"{self.address} has taken up another snapshot ({named[:8]} after {str(pin.snapshot)[:8]}); start "
                "again, so that all rows are from one"
            )
        if pin is not None:
            pin.snapshot = named
        self._snapshot = named

    def _wait(self, again: _AgainError, until: float | None) -> float:
        """Sleep before the next try and return when to give up; `until` None begins a new row of tries."""
        now = time.monotonic()
        patience = self._patience if self._has_answered else min(self._patience, UNKNOWN_SECONDS)
        until = now + patience if until is None else until
        if now + again.seconds > until:
            raise ServiceUnusableError(f"{self.address}: {again}; asked for {patience:g} s in vain") from again
        if now > until - patience + TOLD_SECONDS and self._told != until:
            self._told = until
            log.warning("%s: %s; asking again for up to %g s", self.address, again, patience)
        time.sleep(again.seconds)
        return until


def _is_plain(address: str) -> bool:
    """Whether it is a service's address without a name, a password and a query, which might be a secret."""
    try:
        parts = urlsplit(address)
        whole = is_service(address) and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:  # brackets that do not close, a port that is no number
        return False
    return whole and not ("@" in parts.netloc or parts.query or parts.fragment)


class _Pin:
    """The snapshot that answers have to be from, once one has come."""

    snapshot: str | None = None


class _AgainError(Exception):
    """Asking again after `seconds` may help."""

    def __init__(self, why: str, seconds: float) -> None:
        super().__init__(why)
        self.seconds = seconds


def _phrasing(phrase: str | None, unproven: str) -> dict[str, str]:
    return {} if phrase is None else {"phrase": phrase, "unproven": unproven}


def _reject(row: RejectedRow, on_reject: Callable[[RejectedRow], None] | None) -> None:
    if on_reject is None:
        raise ServiceUnusableError(f"{row.source}: {row.reason}")
    on_reject(row)


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
