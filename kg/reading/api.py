"""Entities from WikiData's Action API: by id (wbgetentities), fifty per call, and by name (wbsearchentities).

Answers are cached by id and parameters. The API's special answers are handled: maxlag and rate limits with status 200,
ids that were merged or are missing, answers cut off for their size.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson

from kg.base.model import ENTITY_ID, normalise
from kg.errors import BadAnswerError, QueryError, RateLimitedError, ServiceError, SourceError, TimeLimitError
from kg.web.addresses import ServiceAddress
from kg.web.client import AT_ONCE, AnswerCache, RetryDelays, ServiceClient, TryAgain, cache_key, retry_after

WIKIDATA = "https://www.wikidata.org/w/api.php"
BATCH = 50  # ids a call, and entities of one search: the API's own limits
LONGEST_NAME = 250  # characters of a label or alias, which WikiData allows
_UNDER_WAY = 4 * AT_ONCE  # calls, so that a failure leaves few
PAGES = 4  # pages of one search: further namesakes are not fetched, their names are in `unfinished`
_NAME = re.compile(r"\w")
_PROPS = "labels|descriptions|aliases|claims|sitelinks|datatype"
_LATER = frozenset({"maxlag", "ratelimited", "readonly", "internal_api_error_DBQueryTimeoutError"})


class WikiDataAPI:
    """Entity objects by id. `languages`: the languages of the terms to request, None for all.

    `url` may have the forms in `kg.web.addresses`. Raises MissingContactError where GRANOLA_CONTACT is not set,
    SourceError for a malformed `url`.
    """

    def __init__(
        self,
        cache: AnswerCache,
        *,
        url: str = WIKIDATA,
        languages: Iterable[str] | None = None,
        patience: RetryDelays | None = None,
    ) -> None:
        try:
            address = ServiceAddress.parse(url, built_in=url == WIKIDATA)
        except SourceError as error:
            raise SourceError(f"no API: {error}; as in {WIKIDATA}, or give nothing for WikiData's") from None
        self.url = address.shown
        self.client = ServiceClient(address, patience or RetryDelays())
        self._cache = cache
        self._params = {
            "action": "wbgetentities", "format": "json", "props": _PROPS, "redirects": "yes", "maxlag": "5",
        }  # fmt: skip
        if languages is not None:
            # mul is always requested: labels that all languages share are stored only there.
            self._params["languages"] = "|".join(sorted({*languages, "mul"}))
        self.unfinished: list[str] = []  # names with more namesakes than were fetched

    def ids_by_name(self, names: Iterable[str], languages: Iterable[str]) -> list[str]:
        """Ids of the items whose normalised label or alias equals one of the names in one of the languages, sorted.

        One call per name and language, or up to PAGES where many items share a name; `unfinished` lists names with
        even more. Names without a letter or a digit, or longer than a label can be, are not searched. Errors as of
        `entities`.
        """
        searchable = sorted({name.strip() for name in names if len(name) <= LONGEST_NAME and _NAME.search(name)})
        asked = [(name, code) for name in searchable for code in sorted(set(languages))]
        bearers: set[str] = set()
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="wbsearchentities") as pool:
            for at in range(0, len(asked), _UNDER_WAY):
                for ids in pool.map(lambda search: self._ids_of_items_named(*search), asked[at : at + _UNDER_WAY]):
                    bearers.update(ids)  # a set: an item found under two names is fetched once
        return sorted(bearers)

    def _ids_of_items_named(self, name: str, language: str) -> list[str]:
        """The ids of the items with one name in one language."""
        key = normalise(name)
        params = {
            "action": "wbsearchentities", "format": "json", "search": name, "language": language, "type": "item",
            "uselang": language, "limit": str(BATCH), "maxlag": "5",
        }  # fmt: skip
        ids: list[str] = []
        for page in range(PAGES):
            page_key = cache_key(self.url, f"search={language}&continue={page * BATCH}", name)
            cached = self._cache.get([page_key])
            if page_key in cached:
                answer = orjson.loads(cached[page_key])
            else:
                answer = self._ask_with_retries(params | ({"continue": str(page * BATCH)} if page else {}), "search")
                self._cache.put({page_key: orjson.dumps(answer)})
            bearers = []  # items with exactly this name: the search also returns longer names
            for hit in (hit for hit in answer.get("search") or () if isinstance(hit, dict)):
                match = hit.get("match")
                texts = [hit.get("label"), match.get("text") if isinstance(match, dict) else None]
                if any(isinstance(text, str) and normalise(text) == key for text in texts):
                    bearers.append(str(hit.get("id")))
            ids += filter(ENTITY_ID.match, bearers)
            if "search-continue" not in answer or not bearers:
                return ids
        self.unfinished.append(name)
        return ids

    def entities(self, ids: Iterable[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """(requested id, entity object) for each id once, in order.

        For a merged id the object is that of the target, with `redirects`; for one that does not exist an object with
        `missing`. Raises ServiceError and its subclasses where the service fails for good; answers fetched until then
        are in the cache.
        """
        unique_ids = list(dict.fromkeys(ids))
        batches = [unique_ids[at : at + BATCH] for at in range(0, len(unique_ids), BATCH)]
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="wbgetentities") as pool:
            for at in range(0, len(batches), _UNDER_WAY):
                some = batches[at : at + _UNDER_WAY]
                for batch, bodies in zip(some, pool.map(self._cached_or_fetched, some), strict=True):
                    yield from ((entity_id, orjson.loads(bodies[entity_id])) for entity_id in batch)

    def _cached_or_fetched(self, ids: Sequence[str]) -> dict[str, bytes]:
        asked = "&".join(f"{name}={value}" for name, value in sorted(self._params.items()) if name != "maxlag")
        keys = {entity_id: cache_key(self.url, asked, entity_id) for entity_id in ids}
        cached = self._cache.get(keys.values())
        bodies = {entity_id: cached[key] for entity_id, key in keys.items() if key in cached}
        lacking = [entity_id for entity_id in ids if entity_id not in bodies]
        if lacking:
            fetched = self._fetch_entities(lacking)
            # Missing entities are not cached: they may exist tomorrow.
            self._cache.put(
                {
                    keys[entity_id]: body
                    for entity_id, body in fetched.items()
                    if body != _missing_entity_json(entity_id)
                }
            )
            bodies |= fetched
        return bodies

    def _fetch_entities(self, ids: Sequence[str]) -> dict[str, bytes]:
        half = len(ids) // 2
        try:
            answer = self._ask_with_retries(self._params | {"ids": "|".join(ids)}, "entities")
        except (QueryError, TimeLimitError) as error:
            # One id that the service cannot read fails a whole call, and so do answers that take too long.
            is_lacking = isinstance(error, QueryError) and "no-such-entity" in str(error)
            if half and (is_lacking or isinstance(error, TimeLimitError)):
                return self._fetch_entities(ids[:half]) | self._fetch_entities(ids[half:])
            if is_lacking:
                return {ids[0]: _missing_entity_json(ids[0])}
            raise
        entities = answer["entities"] if isinstance(answer["entities"], dict) else {}
        bodies = {
            entity_id: _entity_json_or_missing(entities[entity_id], entity_id)
            for entity_id in ids
            if entity_id in entities
        }
        lacking = [entity_id for entity_id in ids if entity_id not in bodies]
        if lacking and len(ids) == 1:
            raise BadAnswerError(f"{self.url}: the answer on {ids[0]} says nothing of it")
        if lacking and not bodies:
            return self._fetch_entities(ids[:half]) | self._fetch_entities(ids[half:])
        # An answer may be cut off for its size, which the API reports only by a warning.
        return bodies | self._fetch_entities(lacking) if lacking else bodies

    def _ask_with_retries(self, params: Mapping[str, str], required: str) -> dict[str, Any]:
        """An answer with the field `required`, after repeated calls if needed. Raises ServiceError or a subclass."""
        return self.client.patience.call_with_retries(self.url, lambda: self._ask_once(params, required))

    def _ask_once(self, params: Mapping[str, str], required: str) -> dict[str, Any]:
        client, url = self.client, self.url
        try:
            got = client.request_once("GET", "application/json", params=params)
        except TimeLimitError as error:  # the server may be busy: try again
            raise TryAgain(error) from None
        if got.cut is not None:
            raise got.cut if isinstance(got.cut, TimeLimitError) else TryAgain(got.cut)
        client.raise_for_status(got)
        try:
            answer = orjson.loads(got.body)
        except orjson.JSONDecodeError as error:
            kind = got.headers.get("Content-Type", "no type")
            raise TryAgain(BadAnswerError(f"{url} answered no JSON ({kind}): {client.excerpt(got.body)}")) from error
        if not isinstance(answer, dict):
            raise TryAgain(BadAnswerError(f"{url} answered no JSON object: {client.excerpt(got.body)}"))
        if (reported := answer.get("error")) is not None:
            told = reported if isinstance(reported, dict) else {}
            code = str(told.get("code", "unknown"))
            clean = client.address.remove_secrets
            why = f"{url}: {clean(code)}: {clean(str(told.get('info', '')))}"
            if code in _LATER or code.startswith("internal_api_error"):
                later = RateLimitedError(why) if code in _LATER else ServiceError(why)
                raise TryAgain(later, retry_after(got.headers))
            raise QueryError(why)
        if required not in answer:
            raise TryAgain(BadAnswerError(f"{url} answered without {required}: {client.excerpt(got.body)}"))
        return answer


def _entity_json_or_missing(data: Any, asked: str) -> bytes:
    """The cached form of an entity; a malformed one counts as missing."""
    if isinstance(data, dict) and "missing" not in data and ENTITY_ID.match(str(data.get("id"))):
        try:
            return orjson.dumps(data)
        except TypeError:  # nested too deeply to be written
            pass
    return _missing_entity_json(asked)


def _missing_entity_json(entity_id: str) -> bytes:
    return orjson.dumps({"id": entity_id, "missing": ""})
