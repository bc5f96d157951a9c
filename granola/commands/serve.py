"""`granola serve` and `granola mcp`: a snapshot as an HTTP service with a web page, and as tools that agents call."""

from __future__ import annotations

import logging
import os
import re
import sys
import tempfile
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from granola.base.settings import Setting
from granola.commands.command import Command
from granola.commands.messages import note, warn_of_snapshot_gaps
from granola.errors import GranolaError, UsageError
from granola.scoring.shared_settings import Language, check_language
from kg.base.packages import install_hint
from kg.store import open_store

if TYPE_CHECKING:
    from granola.service.limits import ServiceSettings

TOKEN = "GRANOLA_TOKEN"
SERVICE_HELP = f"the service needs its libraries: {install_hint('service')}"


@dataclass(frozen=True, kw_only=True)
class Serve(Command[None]):
    """Serve ladders, links, verdicts and scores under /v1, and a page at /.

    Clients send the token, if GRANOLA_TOKEN has one, as a bearer's; browsers ask for it as a password. SIGTERM ends
    the service when what was begun is answered. A snapshot that is renamed onto this one is taken up without losing a
    request.
    """

    prints = False

    snapshot: Annotated[str | None, Setting("The snapshot to serve: a file, or bolt://HOST:PORT.")] = None
    demo: Annotated[bool, Setting("Serve the bundled sample; nothing else is needed.")] = False
    dataset: Annotated[
        Path | None,
        Setting(
            "A file of tiered rows to look at under /dataset: filtered, sorted and searched by any field. Without a "
            "snapshot the bundled sample is served beside it.",
            metavar="FILE",
        ),
    ] = None
    host: Annotated[str, Setting(f"Where to listen. Another than this machine alone wants {TOKEN}, or --no-auth.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Setting("Port to listen at; 0 takes a free one.", least=0, most=65535)] = 8080
    workers: Annotated[int, Setting("Processes; about one a core. They share the snapshot.", least=1, most=256)] = 1
    no_auth: Annotated[bool, Setting(f"Serve whoever can connect, {TOKEN} or not.")] = False
    allow_host: Annotated[
        tuple[str, ...],
        Setting(
            "A name that the service may be asked under, besides addresses and localhost; any where it listens beyond "
            "this machine and none is given.",
            metavar="NAME",
        ),
    ] = ()
    language: Annotated[str, Setting("Language that ladders are made ready for at the start.")] = "en"
    max_body: Annotated[int, Setting("Largest body of a request, in MiB.", least=1, advanced=True)] = 16
    max_rows: Annotated[int, Setting("Most rows of a batch, and of a file to score.", least=1, advanced=True)] = 10_000
    seconds: Annotated[
        float, Setting("Longest time for one request; a batch has 60 times as much.", least=0.1, advanced=True)
    ] = 10.0
    access_log: Annotated[
        bool, Setting("Print a JSON object for each request on standard output, never what was asked.")
    ] = False

    def run(self) -> None:
        """Serve until a signal ends it. Raises UsageError, and GranolaError without the service's libraries."""
        from granola.shortcuts import build_sample

        token = self._token_to_require()
        try:
            from granola.service.server import open_listening_socket, run_service
        except ImportError as error:
            raise GranolaError(f"{SERVICE_HELP} ({error.name} is missing)") from error
        logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="granola: %(message)s")
        logging.raiseExceptions = False  # a full disk that stops the log must fail no request
        if self.access_log:
            accesses = logging.getLogger("granola.access")
            accesses.setLevel(logging.INFO)
            accesses.propagate = False  # the root logger writes warnings to standard error
            accesses.addHandler(logging.StreamHandler(sys.stdout))
        with tempfile.TemporaryDirectory(prefix="granola-demo-") as folder:
            # The folder lives as long as the service: a replaced worker opens the file again.
            where = str(build_sample(folder)) if self.snapshot is None else self.snapshot
            settings = self.service_settings(where, token)
            with closing(open_store(where)) as store:  # a damaged snapshot is reported before workers are started
                about = str(store.manifest()["snapshot_id"])[:8]
            # Bound before the workers start: a port in use is a plain error.
            sock = open_listening_socket(self.host, self.port)
            name = f"[{self.host}]" if ":" in self.host else self.host
            address = f"http://{name}:{sock.getsockname()[1]}"
            if not _is_loopback(self.host):
                asked = "anyone may ask" if token is None else f"{TOKEN} is asked for"
                note(f"listening beyond this machine; {asked}")

            def announce_address() -> None:
                note(f"serving snapshot {about} at {address}")
                if self.dataset is not None:
                    note(f"the ladders of {self.dataset} are at {address}/dataset")

            run_service(settings, sock, workers=self.workers, ready=announce_address)

    def _token_to_require(self) -> str | None:
        """The token that clients must send, None for none. Raises UsageError for a token that HTTP cannot transmit,
        and for contradictory settings.
        """
        if self.snapshot is not None and self.demo:
            raise UsageError("--snapshot and --demo are both given: give one of them")
        if self.snapshot is None and not self.demo and self.dataset is None:
            raise UsageError(
                "nothing to serve is given: give the --snapshot to serve, --demo for the bundled one, or a --dataset"
            )
        check_language(self.language)
        token = None if self.no_auth else os.environ.get(TOKEN)
        # Printable ASCII: the only text that fits into a header unchanged.
        if token is not None and not re.fullmatch(r"[!-~][ -~]{6,}[!-~]", token):
            raise UsageError(f"{TOKEN} must have 8 or more printable ASCII characters, and no space at its ends")
        # A service that others can reach needs a token, or an explicit refusal of one.
        if token is None and not self.no_auth and not _is_loopback(self.host):
            raise UsageError(
                f"whoever reaches {self.host} could use the service; set {TOKEN} to a secret for its clients, or give "
                "--no-auth"
            )
        return token

    def service_settings(self, snapshot: str, token: str | None) -> ServiceSettings:
        """The settings of the service. Raises RowError for an unreadable dataset."""
        from granola.commands.report import ladders_page
        from granola.service.limits import MIB, ServiceSettings

        return ServiceSettings(
            snapshot=snapshot,
            dataset=None if self.dataset is None else ladders_page(str(self.dataset))[0].encode(),
            language=self.language,
            token=token,
            body=self.max_body * MIB,
            buffered=max(64, 4 * self.max_body) * MIB,
            rows=self.max_rows,
            seconds=self.seconds,
            batch_seconds=60 * self.seconds,
            hosts=_allowed_hosts(self.host, self.allow_host),
            access_log=self.access_log,
        )


def _allowed_hosts(host: str, allowed: Iterable[str]) -> frozenset[str] | None:
    """The host names that requests may use, None for any. Raises UsageError for an invalid name."""
    names = tuple(allowed)
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
            raise UsageError(f"--allow-host {name!r}: expected a host's name alone, as granola.example.org")
    # Behind a public address any host name may lead here.
    if not names and not _is_loopback(host):
        return None
    # against DNS rebinding: pages of other hosts must not reach a local service
    return frozenset({"localhost", *(name.lower() for name in names)})


def _is_loopback(host: str) -> bool:
    """Whether a server at this host is reachable from this machine alone."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, kw_only=True)
class Mcp(Command[None]):
    """Serve ladders, links, verdicts and what guesses agree on as tools of the Model Context Protocol.

    An agent starts it and speaks to it over standard input and output; it ends with the agent.
    """

    prints = False

    snapshot: Annotated[
        str | None, Setting("The snapshot to link to and climb in; without one, the bundled sample.")
    ] = None
    language: Language = "en"

    def run(self) -> None:
        """Serve until the input ends. Raises UsageError without the SDK."""
        # Checked before a snapshot is built for nothing.
        if find_spec("mcp") is None:
            raise UsageError(f"granola mcp needs the protocol's SDK: {install_hint('mcp')}")
        from granola.service.agent_tools import tool_server
        from granola.shortcuts import snapshot

        check_language(self.language)
        with closing(snapshot(self.snapshot)) as store:
            warn_of_snapshot_gaps(store, self.language)
            tool_server(store, language=self.language).run("stdio")
