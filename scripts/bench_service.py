"""Requests a second of `granola serve`, latencies, processor time and memory, measured with wrk on this machine.

    python scripts/bench_service.py sample.sqlite [--workers 2] [--connections 1 4 24] [--seconds 10] [--rounds 2]
        [--program CLONE [--python PYTHON]]

Needs wrk (Debian's package), which runs on the same cores, and the questions of ../shared/data. Services of this state
of the program, and of another one that is named, are measured in turns, so that a busy machine counts for both.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import requests
from measuring import DATA, ROOT, ServiceProcess, arguments, serving

from abstraction.files.rows import read_questions

SCRIPT = """
local bodies, at = {}, 0
for line in io.lines("%s") do bodies[#bodies + 1] = line end
function request()
  at = at %% #bodies + 1
  return wrk.format("POST", "/v1/ladder", {["Content-Type"] = "application/json"}, bodies[at])
end
function done(summary, latency)
  local form = '{"requests": %%d, "seconds": %%f, "wrong": %%d, "p50": %%f, "p99": %%f, "p999": %%f'
  io.stderr:write(string.format(form, summary.requests, summary.duration / 1e6, summary.errors.status
    + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, latency:percentile(99.9) / 1e3) .. "}\\n")
end
"""


def wrk(service: ServiceProcess, script: Path, seconds: int, connections: int) -> dict[str, Any]:
    """One run, as wrk tells it, and the workers' processor time."""
    before = service.processor_seconds()
    options = ["-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "10s", "-s", str(script)]
    done = subprocess.run(["wrk", *options, service.address], capture_output=True, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stderr.strip().splitlines()[-1])
    return told | {"processor": service.processor_seconds() - before}


def main() -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("snapshot", type=Path)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 4, 24])
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--questions", type=int, default=4_000, help="few are warm soon on a busy machine")
    parser.add_argument("--program", type=Path, help="another state of the program, measured in turns with this one")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has what the other one needs")
    given = parser.parse_args()
    rows = list(read_questions(sorted((DATA / "entityquestions" / "dev").glob("*.json"))))
    bodies = [
        json.dumps({"id": row.id, "question": row.question, "relation": row.relation, "answer": row.answers})
        for row in rows[:: max(1, len(rows) // given.questions)]
    ]
    programs = [(given.program, given.python)] if given.program else []
    with tempfile.TemporaryDirectory() as name:
        sent, script = Path(name) / "bodies.jsonl", Path(name) / "wrk.lua"
        sent.write_text("\n".join(bodies) + "\n")
        script.write_text(SCRIPT % sent)
        for program, python in [*programs, (ROOT, sys.executable)] * given.rounds:
            snapshot, workers = given.snapshot.resolve(), str(given.workers)
            with serving(snapshot, "--workers", workers, program=program, python=python) as service:
                print(f"{program}: ready after {service.seconds:.2f} s", flush=True)
                for connections in (24, *given.connections):  # the first, so that every worker has seen every question
                    told = wrk(service, script, given.seconds, connections)
                    rate, cost = told["requests"] / told["seconds"], told["processor"] / max(told["requests"], 1)
                    print(
                        f"  {connections} connections: {rate:,.0f} requests/s ({told['wrong']:.0f} not answered); "
                        f"p50 {told['p50']:.2f} ms, p99 {told['p99']:.1f} ms, p99.9 {told['p999']:.1f} ms; "
                        f"{1e3 * cost:.2f} ms of processor a request; "
                        f"{max(service.memory().values()):.0f} MiB a worker at most",
                        flush=True,
                    )
                before = service.processor_seconds()
                got = requests.post(f"{service.address}/v1/ladders", data="\n".join(bodies), timeout=600)
                cost, lines = service.processor_seconds() - before, got.content.count(b"\n")
                print(f"  a batch of {lines:,}: {1e3 * cost / lines:.2f} ms of processor each", flush=True)


if __name__ == "__main__":
    main()
