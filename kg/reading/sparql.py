"""Any SPARQL 1.1 endpoint, with requests made by SPARQLWrapper, as one adapter.

Queries are sent by POST and answers come as JSON, under a time limit of our own; status, content type and completeness
are checked. Servers cut long results at their own limit without a sign (status 200): a result counts as complete only
where it is shorter than one known to be complete, or where a count agrees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

import orjson

from kg.base.rdf_vocabulary import NAMESPACES
from kg.errors import BadAnswerError, ServiceError, SourceError, TimeLimitError
from kg.reading.numbers import whole_number
from kg.reading.rdf_terms import Term
from kg.web.addresses import ServiceAddress
from kg.web.client import Answer, ServiceClient
from kg.web.rate_limits import RetryDelays, TryAgain, retry_after

Row = Mapping[str, Term]

_JSON = ("application/sparql-results+json", "application/json")
# Words by which servers report a time limit in the text of an answer.
_LATE = (b"timed out", b"timeout", b"time out", b"timeoutexception", b"time limit", b"execution time")
_MOST_ROWS = 10**12  # bound on a count that a server reports; larger ones count as malformed


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """Settings of an endpoint. `batch`: entities per query; `timeout`: seconds, a little more than the server's own
    limit.
    """

    url: str
    batch: int = 50
    timeout: float = 70.0


PROFILES: Mapping[str, Profile] = {
    # Wikimedia's services stop a query after 60 s. The scholarly graph has what the main one lacks.
    "wdqs-main": Profile(url="https://query.wikidata.org/sparql", timeout=65.0),
    "wdqs-scholarly": Profile(url="https://query-scholarly.wikidata.org/sparql", timeout=65.0),
    "qlever": Profile(url="https://qlever.dev/api/wikidata"),
}


def profile_of(name: str) -> Profile:
    """A profile by its name, or one for the endpoint at a URL. Raises SourceError for anything else."""
    if name in PROFILES:
        return PROFILES[name]
    try:
        ServiceAddress.parse(name)
    except SourceError as error:
        raise SourceError(f"no SPARQL endpoint: {error}, or one of {', '.join(PROFILES)}") from None
    return Profile(url=name)


class Endpoint:
    """One endpoint; `url` is its address as it may be shown.

    Raises MissingContactError where GRANOLA_CONTACT is not set, SourceError as `ServiceAddress.parse`.
    """

    def __init__(self, profile: Profile, *, patience: RetryDelays | None = None) -> None:
        self.profile = profile
        address = ServiceAddress.parse(profile.url, known=profile in PROFILES.values())
        self.url = address.shown
        self.client = ServiceClient(address, patience or RetryDelays(timeout=profile.timeout))
        self._whole = 1  # a result of so many rows was whole: the server's limit is no smaller

    def rows(self, variables: str, pattern: str) -> list[Row]:
        """The distinct solutions of a pattern for some variables (`?s ?p ?o`), all of them, in no stated order.

        Raises TimeLimitError where the question is too much for the server, which it may answer in smaller pieces;
        BadAnswerError, QueryError, RateLimitedError or another ServiceError.
        """
        selected = f"SELECT DISTINCT {variables} WHERE {{ {pattern} }}"
        try:
            rows = self.ask(selected)
        except BadAnswerError as error:  # cut off in the middle, perhaps for its size
            raise TimeLimitError(str(error)) from error
        if len(rows) < self._whole:
            return rows
        counted = self.ask(f"SELECT (COUNT(*) AS ?n) WHERE {{ {{ {selected} }} }}")
        total = whole_number(counted[0]["n"].value, _MOST_ROWS) if counted and "n" in counted[0] else None
        if total is None:
            raise BadAnswerError(f"{self.url}: a count was asked for and none came")
        if len(rows) < total:
            raise TimeLimitError(f"{self.url} gives {len(rows):,} of {total:,} rows; a question has to ask for fewer")
        if len(rows) > total:
            raise BadAnswerError(f"{self.url}: {len(rows)} rows where the count says {total}")
        self._whole = max(self._whole, total)
        return rows

    def ask(self, query: str) -> list[Row]:
        """The rows of one SELECT as the server gives them, whole or not. Errors as of `rows`."""
        prefixes = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in NAMESPACES.items() if f"{name}:" in query)
        asked = self._form(prefixes + query)
        return self.client.patience.repeat(
            self.url, lambda: self._rows(self.client.ask("POST", ", ".join(_JSON), data=asked))
        )

    def _form(self, query: str) -> dict[str, str]:
        """The fields of a POST that asks a query: the format of the answer by each name that servers know."""
        from SPARQLWrapper import JSON, POST, SPARQLWrapper

        wrapper = SPARQLWrapper(self.client.address.sent, returnFormat=JSON)
        wrapper.setMethod(POST)
        wrapper.setQuery(query)
        body = wrapper._createRequest().data  # SPARQLWrapper has no public way to the body it would send
        assert isinstance(body, bytes)
        return dict(parse_qsl(body.decode()))

    def _rows(self, answer: Answer) -> list[Row]:
        """The rows of an answer. Raises TryAgain for errors that may pass, other errors for lasting ones."""
        client, url, body = self.client, self.url, answer.body
        status, headers = answer.status, answer.headers
        text = (body[:400] + body[-200:]).lower()  # servers repeat the query after the reason
        late = any(sign in text for sign in _LATE)
        if status != 200 and late and not (status in (429, 503) and retry_after(headers) is not None):
            raise TimeLimitError(f"{url} cut the query off ({status}): {client.excerpt(body)}")
        client.check(answer)
        if headers.get("X-SQL-State", "").strip() not in ("", "00000"):  # Virtuoso's partial answers
            raise TimeLimitError(f"{url} gave part of the answer: {client.address.clean(headers['X-SQL-Message'])}")
        kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind and kind not in _JSON:
            raise TryAgain(ServiceError(f"{url} answered {kind}, not JSON: {client.excerpt(body)}"))
        try:
            bindings = orjson.loads(body)["results"]["bindings"]
            return [{name: _term(value) for name, value in row.items()} for row in bindings]
        except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
            if late:
                raise TimeLimitError(f"{url} ran out of time while it answered") from error
            end = client.excerpt(body[-2000:], 2000)[-160:]
            raise BadAnswerError(f"{url}: the answer is cut off or no SPARQL result: ...{end}") from error


def _term(value: Mapping[str, str]) -> Term:
    kind = value["type"]
    text = value["value"]
    language, datatype = value.get("xml:lang") or None, value.get("datatype")
    if not all(isinstance(part, str | None) for part in (text, language, datatype)) or text is None:
        raise TypeError("a term's parts are text")
    if kind == "uri":
        return Term("iri", text)
    if kind == "bnode":
        return Term("blank", text)
    return Term("literal", text, language, datatype)
