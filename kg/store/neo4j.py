"""The Neo4j mirror: a snapshot in a graph database; access to its server, and reading by the protocol of the file.

The graph model, version 2. `kg.store.neo4j_push` writes it.

    (:Entity {id, number, sitelinks, datatype, label_en, description_en, aliases_en, statements, value_counts})
    (:Entity:Missing {id, number})              occurs as a value, but not in the snapshot
    (:Entity)-[:P131 {id, rank, ordinal, datatype, qualifiers, start, end}]->(:Entity)
    (:Name {key, carriers})   (:Redirect {id, target})
    (:ValueList {property, block, targets, entities})
    (:Snapshot {slot: 1, model, snapshot_id, manifest, property_counts, load, phase, after, complete})

Every statement whose value is an item or a property is a relationship; its type is the property's id.
    id          the whole statement id
    rank        "preferred", "normal" or "deprecated"
    ordinal     place among the subject's statements of the property, from 0
    datatype    absent for "wikibase-item" to an item and "wikibase-property" to a property; "" for none given
    qualifiers  JSON, as in the column of that name in `kg.store.schema`; absent for none
    start, end  year * 10000 + month * 100 + day of the first P580 and P582 that is known, 0 for unknown parts
Nodes:
    number        42 for Q42, -31 for P31
    label_L, description_L  text in language L;  aliases_L  JSON list of texts
    statements    JSON of all other statements: {"P569": [[ordinal, rank, type, value, qualifiers, id, datatype]]},
                  as the columns of table `statement` in `kg.store.schema`, ids as text
    value_counts  JSON {"P31": 9}: how many entities of the whole source state this one as the property's value
    key           a label or alias under `kg.base.model.normalise` (over 1 000 bytes: its hash)
    carriers      JSON [[number, kind, language, text], ...], kind 0 label, 1 alias
    targets       numbers, most frequent first, 5 000 per block; `entities` are their counts
    property_counts  JSON {"P31": 9}: how many entities of the whole source carry the property
    load          a random name of this loading, by which a reader notices that the mirror was replaced
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, takewhile
from operator import itemgetter
from typing import Any, TypeVar
from urllib.parse import urlsplit

import orjson

from kg.base.model import Entity, Statement, id_of, normalise, signed_number
from kg.errors import (
    DamagedMirrorError,
    MirrorAccessError,
    MirrorError,
    MirrorTimeoutError,
    MirrorUnreachableError,
    WebAddressError,
)
from kg.store import schema
from kg.store.entity_rows import RANK_CODES, decode_statement, entity_from_parts, matches_in_order
from kg.store.protocol import NameMatch
from kg.web.addresses import without_secrets

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
USER, PASSWORD, DATABASE = "NEO4J_USER", "NEO4J_PASSWORD", "NEO4J_DATABASE"
QUERY_SECONDS = 60.0  # time limit of a query
PATIENCE_SECONDS = 20.0  # time that an unreachable server is waited for, in which it can be started again
OLDEST = (5, 26)  # the first that takes the type of a new relationship from a parameter

_DATABASE = re.compile(r"[A-Za-z][A-Za-z0-9.-]{2,62}\Z")  # Neo4j's own rule
_EXPECTED = "expected one as bolt://localhost:7687 or bolt://localhost:7687/neo4j"


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """The address of a server, without credentials, and the name of its database."""

    uri: str
    database: str

    def __str__(self) -> str:
        return f"{self.uri}/{self.database}"

    @classmethod
    def parse(cls, text: str) -> Address:
        """`bolt://HOST:PORT`, or `bolt://HOST:PORT/DATABASE`; else NEO4J_DATABASE, else `neo4j`.

        Raises MirrorError for other schemes, and for addresses with credentials in them, which end up in logs.
        """
        try:
            parts = urlsplit(text)
            # reading `port` raises ValueError where it is no number
            port = f":{parts.port}" if parts.port is not None else ""
        except ValueError:  # its message repeats a password written in place of a port
            raise MirrorError(f"no address of a Neo4j server: {_EXPECTED}") from None
        # Messages above this line do not repeat the text, which may contain a password.
        if "@" in parts.netloc:
            raise MirrorError(
                f"credentials do not belong into the address of {parts.hostname}; set {USER} and {PASSWORD} instead"
            )
        text = without_secrets(text)
        if parts.scheme in ("http", "https"):
            raise WebAddressError(
                f"{text} is an address of the web; give a snapshot file, or a mirror's bolt port as "
                "bolt://localhost:7687, which is not Neo4j's web page"
            )
        if parts.scheme not in SCHEMES:
            raise MirrorError(f"{text}: the scheme must be one of {', '.join(SCHEMES)}, not {parts.scheme!r}")
        if not parts.hostname or parts.query or parts.fragment:
            raise MirrorError(f"{text} is no address of a Neo4j server: {_EXPECTED}")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        chosen = parts.path.strip("/") or os.environ.get(DATABASE) or "neo4j"
        if not _DATABASE.match(chosen):
            raise MirrorError(f"{chosen!r} is no name of a Neo4j database: {_EXPECTED}")
        return cls(uri=f"{parts.scheme}://{host}{port}", database=chosen)


class Neo4jClient:
    """Single statements on a server, each a transaction that the driver repeats while the server is away.

    A statement may run again after a lost connection, so whoever writes makes statements that do nothing the
    second time. `query_seconds` bounds each statement on the server; `patience` is how long a lost server is
    waited for. Not thread-safe.
    """

    def __init__(
        self, address: Address, *, query_seconds: float = QUERY_SECONDS, patience: float = PATIENCE_SECONDS
    ) -> None:
        import neo4j

        self.address = address
        self._query_seconds = query_seconds
        # Our own errors report what fails; without a handler the driver writes its own words to standard error too.
        logging.getLogger("neo4j").addHandler(logging.NullHandler())
        self._driver = neo4j.GraphDatabase.driver(
            address.uri,
            auth=_credentials_of_environment(),
            telemetry_disabled=True,  # by default the driver reports its use
            connection_timeout=10.0,
            connection_acquisition_timeout=15.0,
            max_connection_pool_size=2,
            max_transaction_retry_time=patience,
            notifications_min_severity="OFF",  # hints to tune queries, which no user of ours has written
            user_agent="granola-ladders",
        )

    def run(
        self, query: str, parameters: Mapping[str, Any] | None = None, *, seconds: float | None = None
    ) -> list[list[Any]]:
        """The rows of a statement, as lists.

        Raises the errors of `kg.errors` whose names begin with Mirror; `seconds` is for this statement alone.
        """
        from neo4j import unit_of_work

        allowed = self._query_seconds if seconds is None else seconds

        @unit_of_work(timeout=allowed)
        def work(transaction: Any) -> list[list[Any]]:
            rows: list[list[Any]] = transaction.run(query, dict(parameters or {})).values()
            return rows

        with (
            self._converting_errors(allowed),
            self._driver.session(database=self.address.database, fetch_size=-1) as session,
        ):
            return session.execute_write(work)  # also for reads: other servers of a cluster may lag behind the leader

    def check_server_version(self) -> None:
        """Raise MirrorError unless a server answers and is new enough; does not wait for a server that is down."""
        with self._converting_errors(self._query_seconds):
            version = self._driver.get_server_info().agent
        found = tuple(int(part) for part in re.findall(r"\d+", version.partition("/")[2])[:2])
        if found and found < OLDEST:  # a name without a version is let pass: servers of the same protocol exist
            raise MirrorError(f"{self.address} is {version}; 5.26 or newer is needed")

    def close(self) -> None:
        """Close the connections. Closing twice is no error."""
        self._driver.close()

    @contextmanager
    def _converting_errors(self, seconds: float) -> Iterator[None]:
        """Raise the errors of the driver as ours, which name a remedy."""
        from neo4j.exceptions import DriverError, Neo4jError

        where = self.address
        try:
            yield
        except (DriverError, OSError) as error:
            why = " ".join(str(error).split())
            raise MirrorUnreachableError(
                f"no Neo4j server answers at {where}; is it running, and is this its bolt port? ({why})"
            ) from error
        except Neo4jError as error:
            code = error.code or ""
            if ".Security." in code:
                credentials = (
                    f"user {os.environ.get(USER) or 'neo4j'!r}" if _credentials_of_environment() else "no credentials"
                )
                refused = f"{where} refused {credentials} ({code}); set {USER} and {PASSWORD}"
                raise MirrorAccessError(refused) from error
            if "TransactionTimedOut" in code or "TransactionTerminated" in code:
                raise MirrorTimeoutError(
                    f"{where}: a query took more than {seconds:g} s and was stopped ({code});"
                    " try again when the server has less to do"
                ) from error
            raise MirrorError(f"{where} says: {error.message} ({code})") from error


def _credentials_of_environment() -> tuple[str, str] | None:
    password = os.environ.get(PASSWORD)
    return (os.environ.get(USER) or "neo4j", password) if password else None


VALUES_A_BLOCK = 5_000  # targets per node `:ValueList`: reading the most frequent few reads one node
LONGEST_KEY = 1_000  # bytes; a longer name is stored in the index as its hash. Neo4j allows some 8,000

# Properties of a node are these names, "_" and a language.
TERMS = {"label": schema.LABEL, "description": schema.DESCRIPTION, "aliases": schema.ALIAS}

MODEL = 2  # version of the graph model above
T = TypeVar("T")
_CHUNK = 2_000  # ids, names or pairs a round trip
_PAGE = 10_000  # ids a round trip of `ids`
_ALL = (1 << 63) - 1  # LIMIT takes no null
# The marker is read in the statement itself: no row can be of another load than it shows.
_HEAD = "MATCH (mirror:Snapshot {slot: 1}) RETURN mirror.load, COLLECT { "
_RESOLVED = "OPTIONAL MATCH (d:Redirect {id: given}) WITH given, coalesce(d.target, given) AS id "
_UNRESOLVED = "WITH given, given AS id "
_ROWS = (
    "[(n)-[r]->(t) WHERE $types IS NULL OR type(r) IN $types |"
    " [type(r), r.ordinal, r.rank, t.number, r.qualifiers, r.id, r.datatype]]"
)


def decode_entity(
    number: int,
    sitelinks: int,
    datatype: str | None,
    literals: str | None,
    related: list[Any],
    terms: Mapping[str, Any],
    properties: Collection[str] | None,
) -> Entity:
    """An entity from its node and relationships.

    `literals` is the node's `statements`; `related` has [type, ordinal, rank, target, qualifiers, id, datatype] per
    relationship; entries of `terms` that are no terms are ignored. Statements of `properties` (None: all). Raises
    ValueError, TypeError, LookupError or ArithmeticError for content that no push has written.
    """
    subject = id_of(number)
    stated: list[tuple[int, int, Statement]] = []
    if literals is not None:
        for prop, rows in orjson.loads(literals).items():
            if properties is None or prop in properties:
                place = int(prop[1:])
                for ordinal, rank, kind, value, qualifiers, name, about in rows:
                    statement = decode_statement(subject, place, rank, kind, value, qualifiers, name, about)
                    stated.append((place, ordinal, statement))
    for prop, ordinal, rank, target, qualifiers, name, about in related:
        place = int(prop[1:])
        statement_datatype = datatype_implied_by_target(target) if about is None else about or None
        statement = decode_statement(
            subject, place, RANK_CODES[rank], schema.ENTITY, target, qualifiers, f"={name}", statement_datatype
        )
        stated.append((place, ordinal, statement))
    stated.sort(key=itemgetter(0, 1))
    worded: list[tuple[int, str, str]] = []
    for key, text in terms.items():
        name, _, language = key.partition("_")
        if name in TERMS and language:
            texts = orjson.loads(text) if name == "aliases" else [text]
            worded += [(TERMS[name], language, one) for one in texts]
    return entity_from_parts(subject, sitelinks, datatype, worded, (statement for _, _, statement in stated))


class Neo4jStore:
    """A snapshot in a Neo4j database, put there by `granola snapshot push`. Implements `Store`.

    Errors are those of `kg.errors` whose names begin with Mirror: no server, refused credentials, a query over
    its time, a mirror that is unfinished or was replaced while it was open.
    """

    def __init__(self, client: Neo4jClient, marker: Mapping[str, Any]) -> None:
        self.address = client.address
        self._client = client
        self._load = marker["load"]
        self._manifest: dict[str, Any] = orjson.loads(marker["manifest"])
        self._property_counts: dict[str, int] = orjson.loads(marker["property_counts"])
        # without redirects one lookup is saved
        self._resolve = _RESOLVED if self._manifest["counts"].get("redirects") else _UNRESOLVED

    @classmethod
    def open(
        cls, address: str, *, query_seconds: float = QUERY_SECONDS, patience: float = PATIENCE_SECONDS
    ) -> Neo4jStore:
        """Open the mirror at `bolt://HOST:PORT[/DATABASE]`; credentials are NEO4J_USER and NEO4J_PASSWORD.

        `query_seconds` bounds every query; a server that goes away is waited for `patience` seconds.
        """
        client = Neo4jClient(Address.parse(address), query_seconds=query_seconds, patience=patience)
        try:
            client.check_server_version()
            marker = read_marker(client)
            if marker is None:
                raise MirrorError(f"{client.address} holds no snapshot; put one there with 'granola snapshot push'")
            if not marker["complete"]:
                raise MirrorError(
                    f"{client.address} is unfinished: it is being loaded, or loading was stopped;"
                    " 'granola snapshot push' goes on with it"
                )
            return cls(client, marker)
        except BaseException:
            client.close()
            raise

    def entities(
        self,
        ids: Collection[str],
        *,
        languages: Collection[str] | None = None,
        properties: Collection[str] | None = None,
    ) -> dict[str, Entity]:
        """See `Store.entities`."""
        types = None if properties is None else [p for p in properties if (signed_number(p) or 0) < 0]
        keys = [f"{kind}_{language}" for language in languages or () for kind in TERMS]
        stated = types is None or bool(types)
        query = (
            "UNWIND $ids AS given "
            + self._resolve
            + "MATCH (n:Entity {id: id}) WHERE n.sitelinks IS NOT NULL"  # only nodes :Missing lack it
            + " RETURN [given, n.number, n.sitelinks, n.datatype, "
            + (", ".join(("n.statements", _ROWS)) if stated else "null, []")
            + (", properties(n)]" if languages is None else ", [key IN $keys | n[key]]]")
        )
        entities: dict[str, Entity] = {}
        valid_ids = [entity_id for entity_id in dict.fromkeys(ids) if signed_number(entity_id) is not None]
        for chunk in _chunks(valid_ids):
            for row in self._read_of_opened_load(query, ids=chunk, types=types, keys=keys):
                entity_id, number, sitelinks, datatype, literals, related, terms = row
                if languages is not None:
                    terms = {key: text for key, text in zip(keys, terms, strict=True) if text is not None}
                with self._converting_decode_errors(entity_id):
                    entities[entity_id] = decode_entity(number, sitelinks, datatype, literals, related, terms, types)
        return {entity_id: entities[entity_id] for entity_id in ids if entity_id in entities}

    def find(self, names: Collection[str], *, languages: Collection[str] | None = None) -> dict[str, list[NameMatch]]:
        """See `Store.find`."""
        keys = {name: key for name in names if (key := normalise(name))}
        stored = {key: name_index_key(key) for key in keys.values()}
        query = "UNWIND $keys AS key MATCH (n:Name {key: key}) RETURN [key, n.carriers]"
        carriers: dict[str, str] = {}
        for chunk in _chunks(list(stored.values())):
            carriers.update(self._read_of_opened_load(query, keys=chunk))
        matches: dict[str, list[NameMatch]] = {}
        for key, at in stored.items():
            if at in carriers:
                with self._converting_decode_errors(f"the name {key!r}"):
                    carried = [one for one in orjson.loads(carriers[at]) if languages is None or one[2] in languages]
                    matches[key] = matches_in_order(carried)
        return {name: list(matches[key]) for name, key in keys.items() if matches.get(key)}

    def referrers(
        self, pairs: Collection[tuple[str, str]], *, limit: int | None = None
    ) -> dict[tuple[str, str], list[str]]:
        """See `Store.referrers`."""
        referrers_of: dict[tuple[str, str], list[str]] = {}
        valid_pairs = _distinct_valid_pairs(pairs)
        for chunk in _chunks(valid_pairs):
            # Types in the text of the query: Neo4j then walks these relationships alone, not all of a hub.
            types = "|".join(sorted({prop for prop, _ in chunk}))
            query = (
                "UNWIND $pairs AS pair WITH pair, pair[1] AS given "
                + self._resolve.replace("WITH given,", "WITH pair, given,")
                + "MATCH (t:Entity {id: id}) RETURN [pair, COLLECT { MATCH (t)<-[r:"
                + types
                + "]-(s)"
                " WHERE type(r) = pair[0] AND r.rank <> 'deprecated'"
                " WITH DISTINCT s.number AS number RETURN number"
                " ORDER BY number < 0, abs(number) LIMIT $limit }]"
            )
            rows = self._read_of_opened_load(
                query, pairs=[list(pair) for pair in chunk], limit=_ALL if limit is None else limit
            )
            referrers_of.update(
                ((prop, target), [id_of(n) for n in numbers]) for (prop, target), numbers in rows if numbers
            )
        return {pair: referrers_of[pair] for pair in valid_pairs if pair in referrers_of}

    def value_counts(self, pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """See `Store.value_counts`."""
        valid_pairs = _distinct_valid_pairs(pairs)
        query = (
            "UNWIND $ids AS given "
            + self._resolve
            + "MATCH (n:Entity {id: id}) WHERE n.value_counts IS NOT NULL RETURN [given, n.value_counts]"
        )
        counts: dict[str, dict[str, int]] = {}
        for chunk in _chunks(list(dict.fromkeys(target for _, target in valid_pairs))):
            for entity_id, text in self._read_of_opened_load(query, ids=chunk):
                with self._converting_decode_errors(entity_id):
                    counts[entity_id] = orjson.loads(text)
        return {(p, t): counts[t][p] for p, t in valid_pairs if p in counts.get(t, ())}

    def property_counts(self, properties: Collection[str]) -> dict[str, int]:
        """See `Store.property_counts`."""
        return {prop: self._property_counts[prop] for prop in properties if prop in self._property_counts}

    def values_of(self, prop: str, *, limit: int | None = None) -> list[tuple[str, int]]:
        """See `Store.values_of`."""
        if (signed_number(prop) or 0) >= 0:
            return []
        blocks = _ALL if limit is None else -(-limit // VALUES_A_BLOCK)
        rows = self._read_of_opened_load(
            "MATCH (v:ValueList {property: $property}) WHERE v.block < $blocks"
            " RETURN [v.targets, v.entities] ORDER BY v.block",
            property=prop,
            blocks=blocks,
        )
        with self._converting_decode_errors(f"the values of {prop}"):
            values = [(id_of(t), n) for targets, counts in rows for t, n in zip(targets, counts, strict=True)]
        return values if limit is None else values[:limit]  # blocks are read whole

    def ids(self) -> Iterator[str]:
        """See `Store.ids`."""
        for side, order in ((">", ""), ("<", " DESC")):
            query = (
                f"MATCH (n:Entity) WHERE n.number {side} $last WITH n ORDER BY n.number{order} LIMIT $page"
                " RETURN [n.number, n.sitelinks IS NOT NULL]"
            )
            last = 0
            while rows := self._read_of_opened_load(query, last=last, page=_PAGE):
                for number, here in rows:
                    if here:
                        yield id_of(number)
                last = rows[-1][0]  # continues after this number: SKIP would go through all earlier rows again

    def descriptions(self, languages: Sequence[str]) -> Iterator[str]:
        """See `Store.descriptions`."""
        items = takewhile(lambda entity_id: entity_id.startswith("Q"), self.ids())
        while chunk := list(islice(items, 2_000)):
            for entity in self.entities(chunk, languages=languages, properties=()).values():
                yield from islice((entity.descriptions[code] for code in languages if code in entity.descriptions), 1)

    def manifest(self) -> Mapping[str, Any]:
        """See `Store.manifest`."""
        return self._manifest

    def close(self) -> None:
        """See `Store.close`."""
        self._client.close()

    def __enter__(self) -> Neo4jStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_of_opened_load(self, query: str, **parameters: Any) -> list[Any]:
        """The result of `query`, one value per row, from the same load that was opened."""
        answer = self._client.run(f"{_HEAD}{query} }}", parameters)
        if len(answer) != 1 or answer[0][0] != self._load:
            raise MirrorError(f"{self.address} was replaced or emptied while it was open; open it again")
        rows: list[Any] = answer[0][1]
        return rows

    @contextmanager
    def _converting_decode_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except (ValueError, TypeError, LookupError, ArithmeticError) as error:
            raise DamagedMirrorError(
                f"{self.address}: {what} cannot be read ({error}); something else wrote to the database:"
                " 'granola snapshot verify' lists what, and push --replace mends it"
            ) from error


def read_marker(client: Neo4jClient) -> dict[str, Any] | None:
    """The node that describes a database's content, or None. Raises MirrorError where its model is another one."""
    rows = client.run("MATCH (m:Snapshot {slot: 1}) RETURN properties(m)")
    if not rows:
        return None
    marker: dict[str, Any] = rows[0][0]
    if marker.get("model") != MODEL:
        raise MirrorError(
            f"{client.address} holds a mirror of model {marker.get('model')}; this version reads model {MODEL}:"
            " push the snapshot again with --replace"
        )
    return marker


def _distinct_valid_pairs(pairs: Collection[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs of a property id and an entity id, without repeats; other pairs are dropped."""
    return [(p, t) for p, t in dict.fromkeys(pairs) if (signed_number(p) or 0) < 0 and signed_number(t) is not None]


def _chunks(items: list[T]) -> Iterator[list[T]]:
    for at in range(0, len(items), _CHUNK):
        yield items[at : at + _CHUNK]


def name_index_key(name: str) -> str:
    """The key of a normalised name in the index: the name itself, or its hash where it is longer than LONGEST_KEY."""
    data = name.encode()
    # A normalised name has no control character, so no name looks like a hash.
    return name if len(data) <= LONGEST_KEY else "\x01" + hashlib.sha256(data).hexdigest()


def datatype_implied_by_target(target: int) -> str:
    """The datatype of a statement whose relationship names none."""
    return "wikibase-item" if target > 0 else "wikibase-property"
