"""What killed processes left beside an output is removed by the next run of it, and nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kg.base.files import MANIFEST, atomic_path, new_output_folder
from tests.thorough import thorough_only

ROOT = Path(__file__).resolve().parents[2]
WRITERS = {
    "file": "from kg.base.files import atomic_path as out\narguments = {}",
    "folder": "from kg.base.files import new_output_folder as out\narguments = {'source': 'none'}",
}


@pytest.fixture
def writing(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A process in the middle of writing `out` in the test's folder, a file or a folder."""
    code = f"""
import sys, time
{WRITERS[request.param]}
with out(sys.argv[1], **arguments) as part:
    if part.is_dir():
        (part / "inside").write_text("half")
    else:
        part.write_text("half")
        part.with_name(part.name + "-journal").write_text("half")
    print("ready", flush=True)
    time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "out")], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    yield process, tmp_path
    process.kill()
    process.wait()
    process.stdout.close()


def write(folder: Path, kind: str) -> None:
    if kind == "file":
        with atomic_path(folder / "out") as part:
            part.write_text("whole")
    else:
        with new_output_folder(folder / "out", source=Path("none"), force=True) as part:
            (part / MANIFEST).write_text("{}")


@pytest.mark.parametrize(("writing", "kind"), [(kind, kind) for kind in WRITERS], indirect=["writing"])
def test_what_a_killed_process_left(writing: tuple[subprocess.Popen[bytes], Path], kind: str) -> None:
    process, folder = writing
    others = [".out.jsonl.abcdefgh.part", ".out.part", "out.abcdefgh.part"]
    for name in others:
        (folder / name).write_text("another's")
    write(folder, kind)  # beside one that runs
    assert process.poll() is None
    running = {path.name for path in folder.iterdir()} - {"out", *others}
    assert len(running) == (2 if kind == "file" else 1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert {path.name for path in folder.iterdir()} == {"out", *others, *running}
    write(folder, kind)
    assert {path.name for path in folder.iterdir()} == {"out", *others}


@thorough_only
def test_a_killed_command_leaves_nothing_behind_its_next_run(tmp_path: Path) -> None:
    """`granola tiers`, killed while it reads a pipe that never ends."""
    from tests.granola.rows_fed import WORLD
    from tests.worlds import snapshot_at

    snapshot_at(tmp_path / "world.sqlite", WORLD)
    code = "from granola.commands.cli.main import main; main()"
    words = [sys.executable, "-c", code, "tiers", "-", "--snapshot", "world.sqlite", "--out", "out.jsonl"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    row = b'{"id": "1", "question": "Where was Ada born?", "answer": "Berlin"}\n'
    process = subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.PIPE, env=environment)
    assert process.stdin is not None
    process.stdin.write(row + b"no row\n" + 600 * row)  # a rejected row opens the list of them
    process.stdin.flush()
    end = time.monotonic() + 60
    while len(list(tmp_path.glob(".out.jsonl.*.part"))) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    process.kill()
    process.wait()
    process.stdin.close()
    assert len(list(tmp_path.glob(".out.jsonl.*.part"))) == 2
    done = subprocess.run(words, cwd=tmp_path, input=row + b"no row\n", env=environment, check=False)
    assert done.returncode == 1
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"world.sqlite", "out.jsonl", "out.jsonl.run.json", "out.jsonl.rejects.jsonl"}
