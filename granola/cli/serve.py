"""`granola serve`: a snapshot behind HTTP, and a page to look at it."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import typer

TOKEN = "GRANOLA_TOKEN"
SERVICE_HELP = "the service needs its libraries: pip install -e '.[service]' in the clone"


def serve(
    snapshot: str | None = typer.Option(None, help="The snapshot to serve: a file, or bolt://HOST:PORT."),
    demo: bool = typer.Option(False, "--demo", help="Serve the bundled sample; nothing else is needed."),
    host: str = typer.Option(
        "127.0.0.1", help=f"Where to listen. Another than this machine alone wants {TOKEN}, or --no-auth."
    ),
    port: int = typer.Option(8080, min=0, max=65535, help="Port to listen at; 0 takes a free one."),
    workers: int = typer.Option(1, min=1, max=256, help="Processes; about one a core. They share the snapshot."),
    no_auth: bool = typer.Option(False, "--no-auth", help=f"Serve whoever can connect, {TOKEN} or not."),
    allow_host: list[str] = typer.Option(
        [],
        "--allow-host",
        help="A name that the service may be asked under, besides addresses and localhost; any where it listens beyond "
        "this machine and none is given.",
        metavar="NAME",
    ),
    language: str = typer.Option("en", help="Language that ladders are made ready for at the start."),
    max_body: int = typer.Option(16, "--max-body", min=1, help="Largest body of a request, in MiB."),
    max_rows: int = typer.Option(10_000, "--max-rows", min=1, help="Most rows of a batch, and of a file to score."),
    seconds: float = typer.Option(10.0, min=0.1, help="Longest time for one request; a batch has 60 times as much."),
    waiting: int = typer.Option(32, min=1, help="Requests that wait, in each process; further ones are refused."),
    model: str | None = typer.Option(
        None,
        help="A chat model for those requests that want one: openai:URL#NAME, local:FOLDER or replay:FILE.",
        metavar="MODEL",
    ),
    answers: Path | None = typer.Option(
        None, help="Where the model's answers are kept, so that nothing is asked twice.", metavar="FILE"
    ),
    model_seconds: float = typer.Option(
        60.0, "--model-seconds", min=1, help="Longest time for a request to the model."
    ),
    per_client: int | None = typer.Option(
        None,
        "--per-client",
        min=1,
        help="Requests of one client's address under way, in each process; further ones are refused. No limit if left "
        "out: behind a proxy all clients have one address.",
    ),
    hang_seconds: float | None = typer.Option(
        None,
        "--hang-seconds",
        min=1,
        help="A process that gives no sign of life for so long is replaced: 10, or 60 with a local model, whose "
        "libraries take long to load.",
    ),
    connections: int = typer.Option(512, min=1, help="Open connections of each process; further ones are refused."),
) -> None:
    """Serve ladders, links, verdicts and scores under /v1, and a page at /.

    Clients send the token, if GRANOLA_TOKEN has one, as a bearer's; browsers ask for it as a password. SIGTERM ends
    the service when what was begun is answered; SIGHUP takes up the snapshot anew without losing a request.
    """
    from granola.errors import GranolaError, UsageError
    from granola.runs.outputs import check_language, note
    from granola.service.service_settings import MIB, ServiceSettings, is_loopback
    from kg.store import open_store

    if answers is not None and model is None:
        raise UsageError("--answers goes with --model, which is not given")
    if (snapshot is None) != demo:
        raise UsageError("give the --snapshot to serve, or --demo for the bundled one; not both")
    check_language(language)
    token = None if no_auth else read_token()
    if token is None and not no_auth and not is_loopback(host):
        raise UsageError(
            f"whoever reaches {host} could use the service; set {TOKEN} to a secret for its clients, or give --no-auth"
        )
    try:
        from granola.service.server import bind, run
    except ImportError as error:
        raise GranolaError(f"{SERVICE_HELP} ({error.name} is missing)") from error
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="granola: %(message)s")
    logging.getLogger("uvicorn").setLevel(logging.ERROR)  # it warns of everything that is no HTTP
    with _snapshot(snapshot) as where:
        settings = ServiceSettings(
            snapshot=where,
            language=language,
            token=token,
            body=max_body * MIB,
            buffered=max(64, 4 * max_body) * MIB,
            rows=max_rows,
            seconds=seconds,
            batch_seconds=60 * seconds,
            waiting=waiting,
            per_client=per_client,
            hosts=_hosts(host, allow_host),
            model=model,
            answers=None if answers is None else str(answers),
            model_seconds=model_seconds,
            connections=connections,
            hang_seconds=hang_seconds or (60.0 if model and model.startswith("local:") else 10.0),
        )
        with closing(open_store(where)) as store:  # what is wrong with it is told before anything is started
            about = str(store.manifest()["snapshot_id"])[:8]
        if model is not None:
            from granola.service.model_threads import opened

            # or looking for a GPU here would keep the workers, which are forks, from using it
            os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
            opened(settings).close()
        sock = bind(host, port, workers=workers)
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{sock.getsockname()[1]}"
        if not is_loopback(host):
            note("listening beyond this machine; " + ("anyone may ask" if token is None else f"{TOKEN} is asked for"))
        run(settings, sock, workers=workers, ready=lambda: note(f"serving snapshot {about} at {address}"))


def _hosts(host: str, allowed: list[str]) -> frozenset[str] | None:
    """The names that the service may be asked under, None for any. Raises UsageError for what is no name."""
    import re

    from granola.errors import UsageError
    from granola.service.service_settings import is_loopback

    for name in allowed:
        if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", name):
            raise UsageError(f"--allow-host {name!r}: expected a host's name alone, as granola.example.org")
    if not allowed and not is_loopback(host):
        return None
    return frozenset({"localhost", *(name.lower() for name in allowed)})


def read_token() -> str | None:
    """The token of the environment, None where there is none. Raises UsageError for one that cannot be sent."""
    from granola.errors import UsageError

    token = os.environ.get(TOKEN)
    if token is None:
        return None
    if len(token) < 8 or not token.isascii() or not token.isprintable() or token != token.strip():
        raise UsageError(f"{TOKEN} must have 8 or more printable ASCII characters, and no space at its ends")
    return token


@contextmanager
def _snapshot(given: str | None) -> Iterator[str]:
    """The snapshot's place; the demo's is built now and goes when the block ends."""
    if given is not None:
        yield given
        return
    import tempfile

    from granola.runs.demo_run import bundled
    from kg.snapshot import build

    with tempfile.TemporaryDirectory(prefix="granola-demo-") as folder:
        path = Path(folder) / "demo.sqlite"
        build([bundled("wikidata")], path)
        yield str(path)
