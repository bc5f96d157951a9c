"""Hashes of the code: of the modules that decide the verdicts of a matcher, and of all; and the commit of the code."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("kg", "abstraction", "granola")  # our packages, whose code decides a verdict
ROOT = Path(__file__).resolve().parents[2]
SHORT = 8  # hex digits of a hash in a signature

# Sources are searched by patterns, which is faster than parsing them.
_TYPES_ONLY = re.compile(r"^([ \t]*+)if TYPE_CHECKING:\n(?:\1[ \t].*+\n|[ \t]*+\n)+", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*(?:from (\S+) import (\([^)]*\)|.*)|import (.*))$", re.MULTILINE)
_NAME = re.compile(r"\b(?<!as )(?!as\b)\w[\w.]*")
_DATA = re.compile(r"""["']([\w./-]+)["']""")


@cache
def hash_of_modules(*modules: str, folders: tuple[str, ...] = (), libraries: tuple[str, ...] = ()) -> str:
    """The start of the SHA-256 of modules, of all that they import from our packages, and of the data files they name.

    Folders such as "granola/matching" are hashed whole, and so are the versions of `libraries` whose data affect
    verdicts.
    """
    files = {path for folder in folders for path in _files_in(ROOT / folder)}
    return _hash(files.union(*map(files_of, modules)), [f"{name}=={version(name)}" for name in libraries])


@cache
def hash_of_program() -> str:
    """The start of the SHA-256 of all files of our packages."""
    return _hash(path for package in PACKAGES for path in _files_in(ROOT / package))


def files_of(module: str) -> frozenset[Path]:
    """The files of a module, of those of our modules that its source imports, and the data files that they name.

    Imports for type checkers alone are left out, and so is the `__init__` of a package where one of its modules is
    imported.
    """
    path_of: dict[str, Path] = {}
    data: set[Path] = set()
    left = [module]
    while left:
        name = left.pop()
        path = _file_of(name)
        # A module of another package, or one that was read already.
        if path is None or name in path_of:
            continue
        path_of[name] = path
        # What only type checkers import cannot change a verdict.
        source = _TYPES_ONLY.sub("", path.read_text(encoding="utf-8"))
        left += _imported_modules(source)
        data.update(_named_data_files(source, path.parent, ROOT / name.split(".")[0]))
    return frozenset({*path_of.values(), *data})


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


def _imported_modules(source: str) -> Iterator[str]:
    for package, names, modules in _IMPORT.findall(source):
        if not package:
            yield from _NAME.findall(modules.split("#")[0])
            continue
        for name in _NAME.findall(re.sub("#.*", "", names)):
            # `from package import name`: the name is a module, or defined in the package.
            inside = f"{package}.{name}"
            yield inside if _file_of(inside) else package


def _named_data_files(source: str, folder: Path, package: Path) -> Iterator[Path]:
    """The data files and folders named in a source, found in its folder, in one above it, or in the data of its
    package.
    """
    above = [place for place in (folder, *folder.parents) if place.is_relative_to(package)]
    for name in set(_DATA.findall(source)):
        # A plain word is no path.
        if "/" not in name and "." not in name:
            continue
        for place in (*(place / name for place in above), package / "data" / name):
            if place.is_file() and place.suffix != ".py":
                yield place.resolve()
            elif place.is_dir() and "/" in name and place.resolve().is_relative_to(package):
                yield from _files_in(place)


def _file_of(module: str) -> Path | None:
    if module.split(".")[0] not in PACKAGES:
        return None
    place = ROOT.joinpath(*module.split("."))
    return next((path for path in (place / "__init__.py", place.with_suffix(".py")) if path.is_file()), None)


def _files_in(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        # compiled files differ between machines
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".pyc", ".pyo"):
            yield path.resolve()


def _hash(files: Iterable[Path], versions: Iterable[str] = ()) -> str:
    digest = hashlib.sha256("".join(f"{version}\0" for version in versions).encode())
    for path in sorted(set(files), key=lambda path: path.relative_to(ROOT).as_posix()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:SHORT]
