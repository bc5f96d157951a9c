"""Defaults of settings for all commands: `granola.toml`.

    snapshot = "wikidata.sqlite"      # --snapshot of every command that needs one; from the file's folder
    language = "de"                   # --language
    contact = "me@example.org"        # GRANOLA_CONTACT, where the environment does not have it

The nearest file counts, from the current folder upwards. A command line overrides it.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from granola.errors import UsageError

NAME = "granola.toml"
KEYS = ("snapshot", "language", "contact")


def use_config() -> None:
    """Use the contact of the file for requests to services. Raises UsageError for an unreadable file."""
    if contact := config().get("contact"):
        # The environment overrides the file.
        os.environ.setdefault("GRANOLA_CONTACT", contact)


@cache
def config() -> Mapping[str, str]:
    """The content of the nearest file; empty without one. Raises UsageError for an unknown key."""
    here = Path.cwd()
    path = next((folder / NAME for folder in (here, *here.parents) if (folder / NAME).is_file()), None)
    return {} if path is None else _read_config(path)


def _read_config(path: Path) -> Mapping[str, str]:
    import tomllib

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    for key, value in table.items():
        if key not in KEYS:
            # Most unknown keys are typing errors.
            near = difflib.get_close_matches(key, KEYS, n=1)
            hint = f"; is {near[0]!r} meant?" if near else f"; there are {', '.join(KEYS)}"
            raise UsageError(f"{path}: {key!r} is no setting{hint}")
        if not isinstance(value, str) or not value.strip():
            raise UsageError(f"{path}: {key} is {value!r}; expected a text")
    snapshot = table.get("snapshot")
    # Relative to the file, so that commands work from any folder below it.
    if snapshot is not None and "://" not in snapshot:
        table = {**table, "snapshot": str(path.parent / snapshot)}
    return dict(table)
