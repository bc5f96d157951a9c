"""Kills a run that asks a chat server, at random points, until it has come through; nothing may be lost or asked twice.

    python scripts/kill_models.py [--requests 2000] [--kills 50] [--fail 0.3] [--seed 0]

The server (`tests/chat_server.py`) fails so large a share of calls in every way it knows. After each kill -9 it is
noted what the cache holds; none of that may be asked again. Prints counts; exit status 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from chat_process import serving

from abstraction.models import Message, Reply, Request, Sampling
from abstraction.models.openai_server import OpenAIModel, ServerSettings
from kg.web.rate_limits import RetryDelays

CONCURRENCY = 16


def requests(count: int) -> Iterator[Request]:
    for number in range(count):
        wrong = " impossible" if number % 50 == 49 else ""
        messages = (Message(role="user", content=f"{number}{wrong}"),)
        yield Request(id=str(number), messages=messages, sampling=Sampling(temperature=0.7, seed=1))


def opened(url: str, folder: Path) -> OpenAIModel:
    patience = RetryDelays(tries=30, base=0.002, cap=0.02, longest=60.0, timeout=0.3)
    settings = ServerSettings(concurrency=CONCURRENCY, patience=patience)
    return OpenAIModel(url, "m", settings=settings, cache=folder / "cache.sqlite", log=folder / "calls.jsonl")


def life(url: str, folder: Path, count: int) -> None:
    """The run itself: a line for each result, which says whether it is new."""
    for result in opened(url, folder).generate(requests(count)):
        reply = isinstance(result, Reply)
        kind = "kept" if reply and result.cached else "new" if reply else f"rejected {result.reason}"
        print(
            json.dumps([result.request.id, kind, result.completions[0].text if reply else result.message]), flush=True
        )


def kept(url: str, folder: Path, count: int) -> set[str]:
    """The requests whose answers the cache holds."""
    model = opened(url, folder)
    ledger = model._ledger
    found = {one.messages[0].content for one in requests(count) if ledger.known(one, one.key())[0] is not None}
    model.close()
    return found


def run(count: int, kills: int, fail: float, seed: int, folder: Path) -> list[str]:
    """What is wrong: nothing, as a rule."""
    chance = random.Random(seed)
    asked_log = folder / "asked.jsonl"
    settings = {"fail": fail, "seed": seed, "refuse": "impossible", "slow": 0.4, "delay": 0.003, "log": str(asked_log)}
    wrong: list[str] = []
    results: dict[str, str] = {}
    killed = repeated = 0
    with serving(**settings) as url:
        held: set[str] = set()
        answered_before = 0
        while True:
            command = [sys.executable, __file__, "--life", url, str(folder), str(count)]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
            assert process.stdout is not None
            left = kills - killed
            # What is under way at the kill is answered too.
            until = chance.randint(1, max(1, (count - len(held)) // (left + 1) - CONCURRENCY)) if left else None
            results.clear()
            new = 0
            for line in process.stdout:
                name, kind, text = json.loads(line)
                results[name] = kind if kind.startswith("rejected") else text
                new += kind == "new"
                if new == until:
                    process.send_signal(signal.SIGKILL)
                    killed += 1
                    break
            process.stdout.close()
            status = process.wait()
            answers = [json.loads(line)[0] for line in asked_log.read_text(encoding="utf-8").splitlines()]
            wrong += [f"asked again although kept: {text}" for text in answers[answered_before:] if text in held]
            answered_before = len(answers)
            if status == 0:
                break
            if status != -signal.SIGKILL:
                return [*wrong, f"the run ended with status {status}"]
            held = kept(url, folder, count)
        times = Counter(answers)
        repeated = sum(times.values()) - len(times)
    rejected = Counter(text for text in results.values() if text.startswith("rejected"))
    if set(results) != {one.id for one in requests(count)}:
        wrong.append(f"{count - len(results)} requests lost")
    expected = {"rejected refused": count // 50}
    if dict(rejected) != expected:
        wrong.append(f"rejected: {dict(rejected)}, expected {expected}")
    print(
        f"{count} requests, {killed} kills: {len(results) - sum(rejected.values())} answered, {dict(rejected)};"
        f" {repeated} answers were under way at a kill and asked for again (at most {killed * CONCURRENCY} could be)"
    )
    if killed < kills:
        wrong.append(f"only {killed} kills: the run was through before")
    return wrong


if __name__ == "__main__":
    if sys.argv[1:2] == ["--life"]:
        life(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
        sys.exit()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--fail", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        problems = run(given.requests, given.kills, given.fail, given.seed, Path(name))
    print("\n".join(problems) or "nothing lost, nothing kept was asked again")
    sys.exit(bool(problems))
