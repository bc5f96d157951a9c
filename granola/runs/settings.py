"""What runs are told; see `granola.settings`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from granola.runs.advanced import ADVANCED
from granola.settings import DeclaredSetting, Setting, fit, plain, recorded, setting_of, settings_of
from granola.settings import command_line as _command_line

__all__ = [
    "DeclaredSetting", "Run", "RunOutcome", "Setting", "command_line", "plain", "recorded", "setting_of", "settings_of",
]  # fmt: skip


class RunOutcome(Protocol):
    """What a run has come to."""

    def show(self) -> None:
        """Print it: data on standard output, all else on standard error."""

    @property
    def failed(self) -> bool:
        """Whether rows were rejected, or what was checked does not hold: exit status 1."""


@dataclass(frozen=True, kw_only=True)
class Run(ABC):
    """One verb with its settings; the docstring of a subclass is the help of its command."""

    verb: ClassVar[str]
    advanced_words: ClassVar[set[str]]

    def __init_subclass__(cls) -> None:
        verb = getattr(cls, "verb", "")
        name = verb.rpartition(" ")[2] if verb.split(" ")[0] in ("snapshot",) else verb
        cls.advanced_words = set(ADVANCED.get(name, "").split())

    def __post_init__(self) -> None:
        """Fit and check every value."""
        fit(self)

    @abstractmethod
    def run(self) -> RunOutcome:
        """Do it, and say what came of it."""

    def arguments(self) -> Mapping[str, Any]:
        """What a run record has of the settings."""
        return recorded(self, type(self))


def command_line(run: Run) -> str:
    """The command that does the same."""
    return _command_line(run.verb, run)
