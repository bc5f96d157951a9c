"""Requests a second that the client of chat servers sustains against a server on this machine that answers at once.

    python scripts/bench_models.py [--requests 20000]

The server runs in a process of its own. Prints requests a second and the growth of memory over the run, with a cache
and a log as a run has them, and without.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from measuring import ROOT, arguments

from abstraction.models.chat_model import Message, Reply, Request, Sampling
from abstraction.models.spec import open_model

WARM = 10_000  # requests after which memory is looked at first


def requests(count: int) -> Iterator[Request]:
    """Different requests of some 600 characters."""
    filler = "who was born where, and what is that part of? " * 12
    for number in range(count):
        yield Request(
            id=str(number),
            messages=(Message(role="user", content=f"{number}: {filler}"),),
            sampling=Sampling(temperature=0.7, max_tokens=64),
        )


def peak() -> float:
    """The most memory that this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(url: str, count: int, folder: Path | None) -> str:
    paths = {} if folder is None else {"cache": folder / "cache.sqlite", "log": folder / "calls.jsonl"}
    model = open_model(f"openai:{url}#m", **paths)
    begun, memory = time.perf_counter(), 0.0
    for number, result in enumerate(model.generate(requests(count)), start=1):
        assert isinstance(result, Reply), result
        if number == WARM:
            memory = peak()
    seconds = time.perf_counter() - begun
    model.close()
    grown = peak() - memory
    return f"{count / seconds:,.0f} requests/s; memory {peak():.0f} MiB, {grown:+.1f} MiB after the first {WARM}"


def main() -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("--requests", type=int, default=20_000)
    count = parser.parse_args().requests
    command = [sys.executable, ROOT / "tests" / "chat_server.py", "{}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, tempfile.TemporaryDirectory() as name:
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/v1"
        try:
            for what, folder in (("cache and log", Path(name)), ("all cached", Path(name)), ("neither", None)):
                print(f"{what}: {measure(url, count, folder)}", flush=True)
        finally:
            server.kill()


if __name__ == "__main__":
    main()
