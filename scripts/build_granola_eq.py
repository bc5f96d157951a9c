"""Build GRANOLA-EQ anew: EntityQuestions' test split with answers at several granularities, from a snapshot.

    python scripts/build_granola_eq.py QUESTIONS --snapshot SNAPSHOT --out FOLDER [--relations paper|all|P19,P20]

QUESTIONS is a folder of EntityQuestions, a file a relation (P19.test.json). The selection and the cleaning are the
paper's (Yona, Aharoni and Geva 2024, appendix B): its seventeen relations (sixteen templates), questions with one
answer, no missing or repeated answers, no trivial coarser ones; each step can be left out. Without a model the answers
are the graph's own, those that the question gives away among them. With --phrase a model writes them and the graph
checks each; with --consistency one scores the descriptions, and rows above the threshold go. Killed, it goes on with
the same command and asks nothing again. Rows
have GRANOLA-EQ's columns and ids, ours behind them; README.md compares the statistics.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from abstraction.datasets.questions import GRANOLA_EQ, GRANOLA_EQ_RELATIONS, EntityQuestions, relations_in
from abstraction.errors import AbstractionError
from abstraction.relations import relation
from granola.cli.from_settings import typer_command
from granola.commands.command import Command
from granola.commands.dataset import BuildingSettings, DatasetBuilt, show_dataset
from granola.errors import GranolaError
from granola.settings import Setting
from granola.shared_settings import Linker, LinkerName
from kg.errors import KGError


@dataclass(frozen=True, kw_only=True)
class Rebuild(Command[DatasetBuilt], BuildingSettings):
    """GRANOLA-EQ anew."""

    questions: Annotated[Path, Setting("EntityQuestions' folder of one split.", positional=True)]
    relations: Annotated[str, Setting("paper (17), all that are there, or ids as P19,P20.")] = "paper"
    name: Annotated[str | None, Setting("The dataset's name.")] = "GRANOLA-EQ rebuilt from WikiData"
    linker: Linker = LinkerName.SMALLEST

    def run(self) -> DatasetBuilt:
        """Build it."""
        if self.relations == "paper":
            chosen = GRANOLA_EQ_RELATIONS
        elif self.relations == "all":
            chosen = tuple(relations_in(self.questions))
        else:
            chosen = tuple(relation(name.strip().upper()).id for name in self.relations.split(","))
        settings = self.settings(
            linker=self.linker, as_asked=False, beside=GRANOLA_EQ, command="python scripts/build_granola_eq.py"
        )
        return self.build(EntityQuestions(folder=self.questions, relations=chosen, limit=self.limit), settings)

    def show(self, result: DatasetBuilt) -> None:
        """What is in it, and what was left out."""
        show_dataset(self, result)


def main() -> int:
    try:
        command = typer_command(Rebuild)
        command.__doc__ = __doc__
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        app.command()(command)
        app()
        return 0
    except (KGError, AbstractionError, GranolaError, OSError) as error:
        print(f"build_granola_eq: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("build_granola_eq: interrupted; the same command goes on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
