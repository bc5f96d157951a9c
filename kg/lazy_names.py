"""Names that a package offers, each loaded from its module when it is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package (PEP 562). `modules` has the module of each name, relative to the package.

    A name that is not there raises AttributeError.
    """

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = modules[name]
        value = getattr(import_module(package + module if module[0] == "." else module), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
