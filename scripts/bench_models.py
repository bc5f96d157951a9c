"""Requests a second that the client of chat servers sustains against a server on this machine that answers at once.

    python scripts/bench_models.py [--requests 20000] [--cached]

The server runs in a process of its own. Prints requests a second and the growth of memory over the run, with a cache
and a log as a run has them, and without.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from chat_process import serving

from abstraction.models import Message, Reply, Request, Sampling, open_model

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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000)
    wanted = parser.parse_args().requests
    with serving() as url, tempfile.TemporaryDirectory() as name:
        print("cache and log:", measure(url, wanted, Path(name)))
        print("all cached:   ", measure(url, wanted, Path(name)))
        print("neither:      ", measure(url, wanted, None))
