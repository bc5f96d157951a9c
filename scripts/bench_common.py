"""What benchmarks share: where the project and the real data are, and the command line in a process of its own."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
GRANOLA = [sys.executable, "-c", "from granola.cli.main import main; main()"]


def arguments(doc: str | None, *, data: bool = False) -> argparse.ArgumentParser:
    """A parser whose help is the script's docstring; with `data`, of --data and --snapshot too."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if data:
        parser.add_argument("--data", type=Path, default=DATA, help="folder of real data")
        parser.add_argument("--snapshot", type=Path, help="a snapshot of the sample; by default one is built")
    return parser


@contextmanager
def sample_snapshot(data: Path, given: Path | None) -> Iterator[Path]:
    """The snapshot that is given, or one of the 76 K sample, for as long as the block lasts."""
    from kg.building import snapshot

    with tempfile.TemporaryDirectory(prefix="granola-bench-") as folder:
        if given is None:
            given = Path(folder) / "sample.sqlite"
            snapshot.build([data / "wikidata" / "entities.json.gz"], given)
        yield given


@dataclass(frozen=True, kw_only=True)
class Rate:
    """Items a second by the clock and by the processor's time, medians; `used`: percent of a card, None without one."""

    clock: float
    processor: float
    used: float | None = None

    def __str__(self) -> str:
        used = "" if self.used is None else f", {self.used:.0f} % of the card"
        return f"{self.clock:,.4g} ({self.processor:,.4g}{used})"


def rates(ways: Mapping[str, Callable[[int], int]], rounds: int, device: str) -> dict[str, Rate]:
    """How fast each way is, called by turns so that what else runs meets all alike; the first round warms up.

    A way is given the round's number, from 0, and returns how many items it did.
    """
    taken: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, work in ways.items():
            clock, processor = time.perf_counter(), time.process_time()
            with _card_use(device) as used:
                items = work(number)
            clock, processor = time.perf_counter() - clock, time.process_time() - processor
            if number:
                share = statistics.fmean(used) if used else -1.0
                taken[name].append((items / clock, items / processor, share))
    return {
        name: Rate(clock=clock, processor=processor, used=None if used < 0 else used)
        for name, (clock, processor, used) in (
            (name, map(statistics.median, zip(*runs, strict=True))) for name, runs in taken.items()
        )
    }


@contextmanager
def _card_use(device: str) -> Iterator[list[float]]:
    """Samples of a card's utilisation in percent while the block runs; none of a processor."""
    used: list[float] = []
    over = threading.Event()

    def watch() -> None:
        import torch

        while not over.wait(0.2):
            used.append(float(torch.cuda.utilization(device)))

    watching = threading.Thread(target=watch) if device.startswith("cuda") else None
    if watching is not None:
        watching.start()
    try:
        yield used
    finally:
        over.set()
        if watching is not None:
            watching.join()


def named(device: str) -> str:
    """A device with the card's name, or how many threads compute."""
    import torch

    return (
        f"{device}, {torch.cuda.get_device_name(device) if device != 'cpu' else f'{torch.get_num_threads()} threads'}"
    )
