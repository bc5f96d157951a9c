"""Kills `granola tiers --phrase` at random points until it has come through; no row may be lost, no answer asked twice.

    python scripts/kill_phrasing.py [--rows 2000] [--kills 50] [--fail 0.3] [--seed 0]

The server (`tests/chat_server.py`) fails so large a share of calls in every way it knows; one row of fifty it refuses
for good, one of twenty it answers in no readable form. After each kill -9 it is noted what the file of answers holds;
none of that may be asked again. In the end every row must be there, in order, phrased or with the reason why not, and
the log of the calls, replayed, must give the same bytes. Prints counts; exit status 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from chat_process import serving

from kg.building import snapshot

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tests.chat_server import hash_of  # noqa: E402

CONCURRENCY = 16
ANSWER, COARSER = ("Honolulu", "Q18094"), ("Hawaii", "United States")
REFUSED, UNREADABLE = 50, 20


def write_inputs(folder: Path, rows: int) -> None:
    """The questions, the texts that the server answers them with, and a snapshot that knows the answer."""
    snapshot.build([ROOT / "granola" / "demo" / "wikidata.json"], folder / "demo.sqlite")
    script = {}
    with (folder / "qa.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(rows):
            question = f"Where was person {number} born?"
            if number % REFUSED == REFUSED - 1:
                question = f"Where was the impossible person {number} born?"
            elif number % UNREADABLE != UNREADABLE - 1:
                script[question] = "<answers>\n" + "\n".join(f"- {text}" for text in COARSER) + "\n</answers>"
            row = {"id": str(number), "question": question, "answer": ANSWER[0], "answer_qid": ANSWER[1]}
            stream.write(json.dumps({**row, "relation": "P19"}) + "\n")
    (folder / "script.json").write_text(json.dumps(script), encoding="utf-8")


def command(folder: Path, model: str, out: str) -> list[str]:
    """One run; the same words each time."""
    return [
        sys.executable, "-c", "from granola.cli.main import main; main()", "tiers", str(folder / "qa.jsonl"),
        "--snapshot", str(folder / "demo.sqlite"), "--out", str(folder / out), "--phrase", model,
    ]  # fmt: skip


def held(folder: Path) -> set[str]:
    """Hashes of the conversations whose answers are kept."""
    answers, calls = folder / "tiers.jsonl.answers.sqlite", folder / "tiers.jsonl.calls.jsonl"
    if not answers.exists() or not calls.exists():
        return set()
    with closing(sqlite3.connect(answers)) as connection:
        keys = {key[32:96] for (key,) in connection.execute("SELECT key FROM answer")}
    found = set()
    for line in calls.read_bytes().splitlines():
        try:
            call = json.loads(line)
        except ValueError:
            continue  # cut off by the kill
        if call.get("key") in keys:
            found.add(hash_of(call["sent"]["messages"]))
    return found


def answered(log: Path) -> list[str]:
    """Hashes of the conversations that the server has answered whole, in order."""
    return [json.loads(line)[3] for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []


def run(rows: int, kills: int, fail: float, seed: int, folder: Path) -> list[str]:
    """What is wrong: nothing, as a rule."""
    write_inputs(folder, rows)
    chance = random.Random(seed)
    log = folder / "asked.jsonl"
    settings = {
        "fail": fail, "seed": seed, "refuse": "the impossible person", "slow": 0.4, "delay": 0.003, "log": str(log),
        "script": str(folder / "script.json"),
    }  # fmt: skip
    wrong: list[str] = []
    killed = before = 0
    kept: set[str] = set()
    with serving(**settings) as url:
        words = command(folder, f"openai:{url}?concurrency={CONCURRENCY}&tries=30&timeout=0.3#m", "tiers.jsonl")
        while True:
            left = kills - killed
            # What is under way at the kill is answered too.
            until = before + chance.randint(1, max(1, (rows - before) // (left + 1) - CONCURRENCY)) if left else None
            with (folder / "said.txt").open("wb") as said:
                process = subprocess.Popen(words, stdout=said, stderr=said, cwd=ROOT, start_new_session=True)
                while process.poll() is None:
                    if until is not None and len(answered(log)) >= until:
                        process.send_signal(signal.SIGKILL)
                        break
                    time.sleep(0.01)
            status = process.wait()
            now = answered(log)
            wrong += [f"asked again although kept: {one}" for one in now[before:] if one in kept]
            before = len(now)
            if status != -signal.SIGKILL:
                break
            killed += 1
            kept = held(folder)
        if status != 1:  # rows were refused
            return [*wrong, f"the run ended with status {status}: {(folder / 'said.txt').read_text()[-2000:]}"]
        wrong += check(folder, rows)
        replay = command(folder, f"replay:{folder / 'tiers.jsonl.calls.jsonl'}", "again.jsonl")
        subprocess.run(replay, capture_output=True, cwd=ROOT, check=False)
        if texts(folder / "again.jsonl", rows) != texts(folder / "tiers.jsonl", rows):
            wrong.append("the replay gives other rows")
    times = Counter(now)
    print(
        f"{rows} rows, {killed} kills: {len(times)} conversations answered;"
        f" {sum(times.values()) - len(times)} were under way at a kill and asked for again"
        f" (at most {killed * CONCURRENCY} could be)"
    )
    print(*[line for line in (folder / "said.txt").read_text().splitlines() if "rows" in line], sep="\n")
    if killed < kills:
        wrong.append(f"only {killed} kills: the run was through before")
    return wrong


def texts(path: Path, rows: int) -> list[str]:
    """The rows of an output but those that were refused, which a replay has no answer to."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [line for number, line in enumerate(lines[:rows]) if number % REFUSED != REFUSED - 1]


def check(folder: Path, rows: int) -> list[str]:
    """What is wrong with the output."""
    wrong = []
    found = [json.loads(line) for line in (folder / "tiers.jsonl").read_text(encoding="utf-8").splitlines()]
    if [row["id"] for row in found] != [str(number) for number in range(rows)]:
        wrong.append(f"{len(found)} rows, or in another order")
    for number, row in enumerate(found):
        expected = "refused" if number % REFUSED == REFUSED - 1 else None
        if expected is None and number % UNREADABLE == UNREADABLE - 1:
            expected = "unreadable-reply"
        note = row["phrasing"]
        if note.get("fallback") != expected:
            wrong.append(f"row {number}: {note}, expected {expected}")
        elif expected is None:
            written = tuple(level["tiers"][0]["text"] for level in row["levels"][1:])
            if written != COARSER or row["levels"][1]["tiers"][0]["evidence"][-1]["kind"] != "model":
                wrong.append(f"row {number}: {written}")
    return wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--fail", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        problems = run(given.rows, given.kills, given.fail, given.seed, Path(name))
    print("\n".join(problems[:20]) or "nothing lost, nothing kept was asked again")
    sys.exit(bool(problems))
