"""Every command: its group in the help, its line there, and the module of `granola.commands` with its class.

The class has the command's words as its name: `snapshot build` is SnapshotBuild. Nothing of a command is imported to
list them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from granola.commands.command import Command


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command, or a group with its `members`, which are in the same module."""

    name: str
    line: str
    module: str
    members: tuple[str, ...] = ()

    @property
    def verbs(self) -> tuple[str, ...]:
        """The words of the commands: its own name, or its name with that of each member."""
        return tuple(f"{self.name} {member}" for member in self.members) or (self.name,)


GROUPS: Mapping[str, tuple[CommandEntry, ...]] = {
    "Look around": (
        CommandEntry("demo", "Build a snapshot, make ladders, score two prediction files and write a page.", "demo"),
        CommandEntry(
            "serve", "Serve ladders, links, verdicts and scores over HTTP, and a page to try them on.", "serve"
        ),
        CommandEntry("mcp", "Serve ladders, links and verdicts as tools that agents call (MCP).", "serve"),
    ),
    "Snapshots of WikiData": (
        CommandEntry(
            "snapshot", "Build, verify, compare, export and mirror snapshots.", "snapshot",
            ("build", "info", "verify", "push", "export", "diff", "spark"),
        ),
    ),
    "Ladders": (
        CommandEntry("tiers", "Make a ladder for every question of a file.", "tiers"),
        CommandEntry("ladder", "Show the ladder of one answer, and what entails each tier.", "tiers"),
        CommandEntry("dataset", "Build a dataset with its card, statistics and what was left out.", "dataset"),
        CommandEntry("audit", "Check the tiers of a file against a snapshot, whoever made them.", "audit"),
    ),
    "Predictions": (
        CommandEntry("answer", "Ask a model the questions, and keep its responses.", "answer"),
        CommandEntry("aggregate", "Make one answer of several responses to each question.", "answer"),
        CommandEntry("curve", "Show what more demanded support brings: precision, coverage, bits.", "report"),
        CommandEntry("experiment", "Run models, methods and settings of a file, and compare them.", "experiment"),
    ),
    "Scores": (
        CommandEntry("score", "Score predictions, with intervals and a signature.", "score"),
        CommandEntry("match", "Say which level each prediction states, and by which rule.", "score"),
        CommandEntry("compare", "Compare systems by paired tests.", "score"),
        CommandEntry("report", "Draw the paper's figures for systems of one's own.", "report"),
    ),
    "Evidence": (
        CommandEntry(
            "generate", "Let a model write answers from passages, or knowledge texts and answers from these.",
            "generate",
        ),
        CommandEntry("grounding", "Judge long answers from passages: grounded, deflecting, cited?", "grounding",
                     ("judge",)),
        CommandEntry("knowledge", "Score knowledge texts: factuality, relevance, coherence ...", "knowledge",
                     ("judge",)),
        CommandEntry(
            "attribution", "Build a benchmark of evidence and answers, and hold evaluators against it.", "attribution",
            ("build", "audit", "train", "evaluate"),
        ),
        CommandEntry("verdicts", "Show scores of judged items: slices, tests, tables, figures, pools.", "item_scores"),
        CommandEntry(
            "sheets", "Write sheets on which people judge items, and read the filled ones.", "people_judging",
            ("draw", "read"),
        ),
    ),
}  # fmt: skip
COMMANDS: Mapping[str, CommandEntry] = {entry.name: entry for group in GROUPS.values() for entry in group}
VERBS: Mapping[str, CommandEntry] = {verb: entry for entry in COMMANDS.values() for verb in entry.verbs}


def class_name(verb: str) -> str:
    """The name of the class of a command: SnapshotBuild for `snapshot build`."""
    return verb.title().replace(" ", "")


# The inverse of class_name, which loses the space of "snapshot build".
_VERBS_OF_CLASSES = {class_name(verb): verb for verb in VERBS}


def verb_of(command: type) -> str:
    """The words of the command of a class, or of the class that it inherits from."""
    return next(
        # A subclass made elsewhere has the words of its command.
        (_VERBS_OF_CLASSES[one.__name__] for one in command.__mro__ if one.__name__ in _VERBS_OF_CLASSES),
        command.__name__.lower(),
    )


def command_class(verb: str) -> type[Command[Any]]:
    """Import the module of a command and return its class."""
    found: type[Command[Any]] = getattr(import_module(f"granola.commands.{VERBS[verb].module}"), class_name(verb))
    return found
