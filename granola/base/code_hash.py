"""Hashes of the code: of what decides a verdict, and of the whole program; and the commit of the code."""

from __future__ import annotations

import hashlib
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("kg", "abstraction", "granola")
ROOT = Path(__file__).resolve().parents[2]
SHORT = 8  # hex digits of a hash in a signature
# Beside its own folder, a verdict rests on: how replies and names are read, on which data, and on facts of a graph.
READ = ("granola/replies", "abstraction/base", "abstraction/data", "abstraction/text", "kg/base", "kg/graph")


@cache
def hash_of_modules(*modules: str, libraries: tuple[str, ...] = ()) -> str:
    """The start of the SHA-256 of the code and data that decide the verdicts of modules.

    These are the folders of the modules and those of READ, and the versions of `libraries` whose data affect verdicts.
    """
    folders = (module.rpartition(".")[0].replace(".", "/") for module in modules)
    return _hash({*folders, *READ}, libraries)


@cache
def hash_of_program() -> str:
    """The start of the SHA-256 of all files of our packages."""
    return _hash(set(PACKAGES))


def commit() -> str | None:
    """The commit of the git clone with this code; None for an installation without a clone, or without git."""
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
