"""Record what must not change: ladders, verdicts, scores, datasets, service answers, exports and judged evidence.

    python scripts/record_outputs.py sample.sqlite before --program OLD_CLONE
    python scripts/record_outputs.py sample.sqlite after
    diff -r before after

The snapshot is one of wikidata/entities.json.gz. A refactoring leaves `diff -r` empty. When, where and by which code
something was made is struck from the files; so are settings that say nothing. Nearly all is asked of the command line.
"""

from __future__ import annotations

import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measuring import ROOT, arguments
from recording import command_parts, library_parts
from recording.plain_files import make_plain
from recording.recorder import Recorder
from recording.service_part import record_service

PARTS: dict[str, Callable[[Recorder], None]] = {
    "ladders": library_parts.record_ladders,
    "scores": command_parts.record_scores,
    "tiers": command_parts.record_tiers,
    "snapshots": command_parts.record_snapshots,
    "attribution": command_parts.record_attribution,
    "datasets": command_parts.record_datasets,
    "decoding": command_parts.record_decoding,
    "answers": library_parts.record_answers,
    "matching": command_parts.record_matching,
    "service": record_service,
    "grounding": command_parts.record_grounding,
    "knowledge": command_parts.record_knowledge,
}


def main() -> int:
    parser = arguments(__doc__, snapshot=True)
    parser.add_argument("folder", type=Path, help="where to write; a folder of its own for each state")
    parser.add_argument("--program", type=Path, default=ROOT, help="the clone whose state is recorded; this one")
    parser.add_argument("--each", type=int, default=60, help="answers of each relation of EntityQuestions")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas: %(default)s")
    parser.add_argument("--workers", type=int, default=2, help="parts that are recorded at a time")
    given = parser.parse_args()
    names = given.only.split(",")
    if unknown := sorted(set(names) - set(PARTS)):
        parser.error(f"--only: {', '.join(unknown)} is no part; parts are {', '.join(PARTS)}")
    if taken := [name for name in names if (given.folder / name).exists()]:
        parser.error(f"{given.folder} has {', '.join(taken)} already")
    if len(names) > 1:
        with ThreadPoolExecutor(given.workers) as pool:
            return max(pool.map(lambda name: _recorded_apart(name, given), names))
    recorder = Recorder(
        program=given.program.resolve(), snapshot=given.snapshot.resolve(), data=given.data.resolve(),
        folder=given.folder.resolve() / names[0], each=given.each,
    )  # fmt: skip
    sys.path.insert(0, str(recorder.program))
    recorder.folder.mkdir(parents=True)
    began = time.monotonic()
    PARTS[names[0]](recorder)
    make_plain(recorder)
    print(f"{names[0]}: {time.monotonic() - began:.0f} s", file=sys.stderr)
    return 0


def _recorded_apart(name: str, given: Namespace) -> int:
    """The exit status of recording one part in a process of its own."""
    command = [sys.executable, __file__, given.snapshot, given.folder, "--program", given.program, "--data", given.data]
    return subprocess.run([*map(str, command), "--each", str(given.each), "--only", name], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
