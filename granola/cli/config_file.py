"""What is given once instead of with every command: `granola.toml`, or `[tool.granola]` in pyproject.toml.

    snapshot = "wikidata.sqlite"      # --snapshot of every command that needs one; from the file's folder
    language = "de"                   # --language
    contact = "me@example.org"        # GRANOLA_CONTACT, where the environment does not have it

The nearest file counts, from the current folder upwards. What a command line says comes first.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from granola.errors import UsageError

OWN, SHARED = "granola.toml", "pyproject.toml"
KEYS = ("snapshot", "language", "contact")


def use_config() -> None:
    """Put the contact where services are asked from. Raises UsageError for a file that cannot be read."""
    if contact := config().get("contact"):
        os.environ.setdefault("GRANOLA_CONTACT", contact)


@cache
def config() -> Mapping[str, str]:
    """What the nearest file says; nothing where there is none. Raises UsageError for a key that means nothing."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        for name in (OWN, SHARED):
            path = folder / name
            if path.is_file() and (table := _table(path)) is not None:
                return _checked(path, table)
    return {}


def _table(path: Path) -> Any:
    """What a file says of us, None where it says nothing."""
    import tomllib

    try:
        text = path.read_text(encoding="utf-8")
        if path.name == SHARED and "tool.granola" not in text:
            return None  # most such files: not read as TOML with every command
        data = tomllib.loads(text)
    except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    return data if path.name == OWN else data.get("tool", {}).get("granola")


def _checked(path: Path, table: Any) -> Mapping[str, str]:
    for key, value in table.items():
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1)
            hint = f"; is {near[0]!r} meant?" if near else f"; there are {', '.join(KEYS)}"
            raise UsageError(f"{path}: {key!r} is no setting{hint}")
        if not isinstance(value, str) or not value.strip():
            raise UsageError(f"{path}: {key} is {value!r}; expected a text")
    snapshot = table.get("snapshot")
    if snapshot is not None and "://" not in snapshot:
        table = {**table, "snapshot": str(path.parent / snapshot)}
    return dict(table)
