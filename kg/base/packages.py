"""Names that a package offers, loaded when they are used, and the extras that install further libraries."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def install_hint(extra: str) -> str:
    """The command that installs an extra: `pip install -e '.[report]' in the clone`, or of the published package."""
    if (Path(__file__).resolve().parents[2] / "pyproject.toml").is_file():
        return f"pip install -e '.[{extra}]' in the clone"
    return f"pip install 'granola-ladders[{extra}]'"


def lazy_names(package: str) -> Callable[[str], Any]:
    """The `__getattr__` of a package (PEP 562): imports under `if TYPE_CHECKING:` are executed when a name is used.

    So the imports that a type checker reads are those that run, and each name is listed once. Unknown names raise
    AttributeError.
    """

    @cache
    def modules_by_name() -> dict[str, str]:
        import ast  # not before a name is asked for

        spec = find_spec(package)
        source = spec.loader.get_source(package) if spec is not None else None  # type: ignore[union-attr]
        guarded = (node for block in ast.parse(source or "").body if isinstance(block, ast.If) for node in block.body)
        imports = (node for node in guarded if isinstance(node, ast.ImportFrom))
        return {alias.name: node.module or "" for node in imports for alias in node.names}

    def load(name: str) -> Any:
        if name not in modules_by_name():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(modules_by_name()[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
