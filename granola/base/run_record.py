"""Run records: FILE.run.json, written with FILE, lists the command, settings, inputs and versions that made it.

Versions are a hash of the code that decides verdicts, or of the whole program, and the commit of the code.
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from granola import __version__
from granola.base.terminal_lines import escape_controls
from kg.base.files import atomic_path, resolve_output_path, sha256_of

SUFFIX = ".run.json"
PACKAGES = ("kg", "abstraction", "granola")  # hashed as a whole by hash_of_program
ROOT = Path(__file__).resolve().parents[2]
SHORT = 8  # hex digits of a hash in a signature
# A verdict also depends on these folders: how replies and names are read, on which data, and on facts of a graph.
READ = ("granola/replies", "abstraction/base", "abstraction/data", "abstraction/text", "kg/base", "kg/graph")


@cache
def hash_of_modules(*modules: str, libraries: tuple[str, ...] = ()) -> str:
    """The first SHORT digits of the SHA-256 of the code and data that decide the verdicts of modules.

    Hashed are the folders of the modules, the folders in READ, and the versions of `libraries` whose data affect
    verdicts.
    """
    folders = (module.rpartition(".")[0].replace(".", "/") for module in modules)
    return _hash({*folders, *READ}, libraries)


@cache
def hash_of_program() -> str:
    """The first SHORT digits of the SHA-256 of all files of our packages."""
    return _hash(set(PACKAGES))


def commit() -> str | None:
    """The commit of the git clone with this code; None without a clone, or without git."""
    # An installed package may lie inside the clone of another project.
    if not (ROOT / ".git").exists():
        return None
    try:
        done = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _hash(folders: set[str], libraries: tuple[str, ...] = ()) -> str:
    digest = hashlib.sha256("".join(f"{name}=={version(name)}\0" for name in libraries).encode())
    # Compiled files differ between machines.
    files = {
        path.relative_to(ROOT).as_posix(): path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".pyo")
    }
    for name, path in sorted(files.items()):
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:SHORT]


def write_run_record(
    out: Path | str,
    *,
    command: str,
    arguments: Mapping[str, Any],
    inputs: Iterable[Path | str],
    more: Mapping[str, Any] | None = None,
    is_published: bool = False,
) -> Path:
    """Write the run record `out` + ".run.json" and return its path; where `is_published` paths have no folders.

    `arguments` are the resolved settings, defaults included; every input is listed with its SHA-256, except "-".
    `more` are fields of the command, such as its signature or the snapshot's id under "snapshot". Where the record
    cannot be written `out` is removed, so that no output is left without its record.
    """

    def recorded_name(path: Path | str) -> str:
        return Path(path).name if is_published and "://" not in str(path) else str(path)

    path = Path(f"{out}{SUFFIX}")
    try:
        record = {
            "schema_version": 1,
            "command": command,
            "arguments": {key: str(value) if isinstance(value, Path) else value for key, value in arguments.items()},
            "inputs": [
                {"path": recorded_name(given), "sha256": sha256_of(given) if Path(given).is_file() else None}
                for given in inputs
            ],
            "output": {"path": recorded_name(out), "sha256": sha256_of(out)},
            "versions": {
                "granola-ladders": __version__,
                "python": platform.python_version(),
                # Versions, commit and hash of the files: enough to find the same code again.
                "commit": commit(),
                "files": hash_of_program(),
            },
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            **(more or {}),
        }
        text = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False)
        with atomic_path(path) as temporary:
            temporary.write_text(f"{text}\n", encoding="utf-8")
    except OSError:
        resolve_output_path(out).unlink(missing_ok=True)
        raise
    return path


def record_of(out: Path | str) -> Mapping[str, Any]:
    """The run record of `out`; empty without one. An unreadable record is reported on standard error and ignored."""
    path = Path(f"{out}{SUFFIX}")
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(record, dict):
            raise ValueError("it is no JSON object")
    # A damaged record must not stop the command that reads its file.
    except ValueError as error:
        _warn_of_ignored_record(path, str(error))
        return {}
    except OSError:  # no record
        return {}
    return record


@cache
def _warn_of_ignored_record(path: Path, why: str) -> None:
    """Warn, once for each path, that a record is ignored."""
    print(escape_controls(f"granola: {path} is no run record and is ignored: {why}"), file=sys.stderr)
