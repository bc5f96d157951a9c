"""What scripts share: data, arguments, rows, rates, and the command line and the service as processes."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
# Of names that nobody has.
SYLLABLES = ("ba", "cor", "del", "fin", "gar", "hol", "ka", "lin", "mor", "nes", "or", "pen", "ro", "sta", "ton", "ve")
GRANOLA = [sys.executable, "-c", "from granola.commands.cli.main import main; main()"]
sys.path.insert(0, str(ROOT))  # this clone's own packages, and its tests' servers


def arguments(doc: str | None, *, data: bool = True, snapshot: bool = False) -> argparse.ArgumentParser:
    """A parser whose help is the script's docstring, of --data, and of the snapshot as the first argument."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if snapshot:
        parser.add_argument("snapshot", type=Path, help="a snapshot of wikidata/entities.json.gz")
    if data:
        parser.add_argument("--data", type=Path, default=DATA, help="folder of the public data sets")
    return parser


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file of JSON Lines, packed or not."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def relation_files(data: Path, split: str = "test") -> dict[str, Path]:
    """EntityQuestions' files of a split by relation, in the order of their numbers."""
    files = {path.name.split(".")[0]: path for path in (data / "entityquestions" / split).glob("P*.json")}
    return dict(sorted(files.items(), key=lambda item: int(item[0][1:])))


def percent(part: float, whole: float) -> str:
    """A share in words; a dash of nothing."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


@contextmanager
def sample_snapshot(data: Path, given: Path | None) -> Iterator[Path]:
    """The snapshot that is given, or one of the 76 K sample, for as long as the block lasts."""
    from kg.building import snapshot

    with tempfile.TemporaryDirectory(prefix="granola-bench-") as folder:
        if given is None:
            given = Path(folder) / "sample.sqlite"
            snapshot.build([data / "wikidata" / "entities.json.gz"], given)
        yield given


def cost_of(command: list[str]) -> tuple[float, float, float]:
    """Seconds and processor seconds of a process and its children, and the peak MiB of the process."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        if status:
            errors.seek(0)
            sys.exit(f"{command}: exit status {os.waitstatus_to_exitcode(status)}: {errors.read()[-2000:].decode()}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / unit


@dataclass(frozen=True, kw_only=True)
class Rate:
    """Items a second by the clock and by the processor's time, medians; `used`: percent of a card, None without one."""

    clock: float
    processor: float
    used: float | None = None

    def __str__(self) -> str:
        used = "" if self.used is None else f", {self.used:.0f} % of the card"
        return f"{self.clock:,.4g} ({self.processor:,.4g}{used})"

    def over(self, other: Rate) -> str:
        """How many times as fast as another one."""
        return f"{self.clock / other.clock:.2f} ({self.processor / other.processor:.2f})"


def rates(ways: Mapping[str, Callable[[int], int]], rounds: int, device: str = "cpu") -> dict[str, Rate]:
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
    found = {}
    for name, runs in taken.items():
        clock, processor, share = map(statistics.median, zip(*runs, strict=True))
        found[name] = Rate(clock=clock, processor=processor, used=None if share < 0 else share)
    return found


@contextmanager
def _card_use(device: str) -> Iterator[list[float]]:
    """Samples of a card's utilisation in percent while the block runs; none of a processor."""
    used: list[float] = []
    over = threading.Event()

    def watch() -> None:
        import torch

        while device.startswith("cuda") and not over.wait(0.2):
            used.append(float(torch.cuda.utilization(device)))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield used
    finally:
        over.set()
        watching.join()


def model_arguments(doc: str | None) -> argparse.ArgumentParser:
    """`arguments` of what measures models of this machine; `device_chosen` reads them."""
    parser = arguments(doc, data=False)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, help="of torch; 1 where other work runs beside")
    return parser


def device_chosen(given: argparse.Namespace) -> tuple[str, str]:
    """The device, and it in words, with the card's name or how many threads compute; libraries are silent from here."""
    import torch
    from transformers import logging

    from abstraction.models.local_weights import resolve_device

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    if given.threads:
        torch.set_num_threads(given.threads)
    device = resolve_device(given.device)
    what = f"{torch.get_num_threads()} threads" if device == "cpu" else torch.cuda.get_device_name(device)
    return device, f"{device}, {what}"


def save_llama(folder: Path, *, width: int, layers: int, heads: int, inner: int, vocabulary: int, dtype: str) -> None:
    """A causal model of a llama's shape and random weights, with the tests' tokenizer."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from tests import tiny_model

    tiny_model.build(folder)
    config = LlamaConfig(
        vocab_size=vocabulary, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
        num_key_value_heads=max(1, heads // 4), intermediate_size=inner, max_position_embeddings=4096,
        bos_token_id=2, eos_token_id=vocabulary - 1, pad_token_id=1,
    )  # fmt: skip
    torch.manual_seed(0)
    LlamaForCausalLM(config).to(getattr(torch, dtype)).save_pretrained(folder)


@dataclass(frozen=True)
class ServiceProcess:
    """A running service; it was ready `seconds` after its start."""

    process: subprocess.Popen[bytes]
    address: str
    log: Path
    seconds: float

    def workers(self) -> list[int]:
        """Their process ids."""
        own = self.process.pid
        return [int(child) for child in Path(f"/proc/{own}/task/{own}/children").read_text().split()] or [own]

    def processor_seconds(self) -> float:
        """User and system time of the workers so far."""
        stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in self.workers()]
        return sum(int(fields[11]) + int(fields[12]) for fields in stats) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> dict[int, float]:
        """MiB that each worker holds of its own, beside the pages of the snapshot."""
        told = {pid: Path(f"/proc/{pid}/status").read_text() for pid in self.workers()}
        found = {pid: re.search(r"RssAnon:\s+(\d+)", text) for pid, text in told.items()}
        return {pid: int(size[1]) / 1024 for pid, size in found.items() if size}


@contextmanager
def serving(snapshot: Path, *options: str, program: Path, python: str = sys.executable) -> Iterator[ServiceProcess]:
    """The service of a clone of the program on a free port, until the block ends."""
    command = [python, *GRANOLA[1:], "serve", "--port", "0", "--snapshot", str(snapshot), *options]
    with tempfile.NamedTemporaryFile("r+") as told:
        began = time.perf_counter()
        environment = {**os.environ, "PYTHONPATH": str(program)}
        process = subprocess.Popen(command, stderr=told, cwd=program, env=environment)
        log = Path(told.name)
        while not (found := re.search(r"at (http://\S+)\n", log.read_text())):
            if process.poll() is not None:
                raise SystemExit(log.read_text())
            time.sleep(0.02)
        try:
            yield ServiceProcess(process, found[1], log, time.perf_counter() - began)
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
