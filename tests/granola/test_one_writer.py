"""A file has one writer: of two commands with one --out the second is refused; and what a terminal is spared."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from granola.commands.output import lock_output
from granola.errors import UsageError

FILES = Path(__file__).parent / "files"
WAITING = "import sys; from granola.commands.cli.main import main; main()"


def test_the_second_of_two_processes_is_refused_from_its_start(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out.jsonl"
    command = [sys.executable, "-c", WAITING, "match", "-", "--out", str(out)]
    first = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert first.stdin is not None
    try:
        while not list(tmp_path.glob("new/.out.jsonl.*.lock")):  # it waits for its input then
            assert first.poll() is None
        second = subprocess.run([*command, "--force"], input=b"", capture_output=True, check=False)
        assert second.returncode == 2
        assert b"another process is writing" in second.stderr
        row = b'{"prediction": "Lyon", "answers": ["Lyon"]}\n'
        _, told = first.communicate(row, timeout=60)
        assert first.returncode == 0, told
    finally:
        first.kill()
    assert sorted(path.name for path in out.parent.iterdir()) == ["out.jsonl", "out.jsonl.run.json"]
    third = subprocess.run(command, input=b"", capture_output=True, check=False)
    assert b"exists; give --force" in third.stderr


def test_a_folder_has_one_writer_and_a_new_one_goes_with_a_refused_command(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "folder"
    with lock_output(folder), pytest.raises(UsageError, match="another process is writing"), lock_output(folder):
        raise AssertionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", ["--help", "score --help", "match -", "snapshot info nothing", "ladder a b"])
def test_closed_streams_end_quietly(tmp_path: Path, words: str) -> None:
    line = f"{sys.executable} -c '{WAITING}' {words} </dev/null >&-"
    done = subprocess.run(["bash", "-c", line], capture_output=True, cwd=tmp_path, check=False)
    assert b"Traceback" not in done.stderr
    assert done.returncode in (0, 1, 2)


def test_control_characters_of_a_message_reach_no_terminal(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"prediction": "a", "answers": 1, "\\u001b[2J": 1}\n{"\\u001b[2J": 3}\n')
    command = [sys.executable, "-m", "granola", "match", str(rows), "--matcher", "\x1b[31mrules"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert b"\x1b" not in done.stderr + done.stdout
    done = subprocess.run(command[:-2], capture_output=True, check=False)
    assert b"\x1b" not in done.stderr
