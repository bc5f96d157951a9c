"""Access to a Neo4j server: addresses, credentials, time-outs, and errors that name a remedy."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from kg.errors import (
    MirrorAccessError,
    MirrorError,
    MirrorTimeoutError,
    MirrorUnreachableError,
    WebAddressError,
)
from kg.web.addresses import without_secrets

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
USER, PASSWORD, DATABASE = "NEO4J_USER", "NEO4J_PASSWORD", "NEO4J_DATABASE"
QUERY_SECONDS = 60.0  # time limit of a query
PATIENCE_SECONDS = 20.0  # time that an unreachable server is waited for
OLDEST = (5, 26)

_DATABASE = re.compile(r"[A-Za-z][A-Za-z0-9.-]{2,62}\Z")
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
            auth=_credentials(),
            telemetry_disabled=True,
            connection_timeout=10.0,
            connection_acquisition_timeout=15.0,
            max_connection_pool_size=2,
            max_transaction_retry_time=patience,
            notifications_min_severity="OFF",
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
            return session.execute_write(work)

    def check(self) -> None:
        """Raise MirrorError unless a server answers and is new enough. Waits for none that is not there."""
        with self._converting_errors(self._query_seconds):
            version = self._driver.get_server_info().agent
        found = tuple(int(part) for part in re.findall(r"\d+", version.partition("/")[2])[:2])
        if found and found < OLDEST:
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
                credentials = f"user {os.environ.get(USER) or 'neo4j'!r}" if _credentials() else "no credentials"
                refused = f"{where} refused {credentials} ({code}); set {USER} and {PASSWORD}"
                raise MirrorAccessError(refused) from error
            if "TransactionTimedOut" in code or "TransactionTerminated" in code:
                raise MirrorTimeoutError(
                    f"{where}: a query took more than {seconds:g} s and was stopped ({code});"
                    " try again when the server has less to do"
                ) from error
            raise MirrorError(f"{where} says: {error.message} ({code})") from error


def _credentials() -> tuple[str, str] | None:
    password = os.environ.get(PASSWORD)
    return (os.environ.get(USER) or "neo4j", password) if password else None
