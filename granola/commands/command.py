"""What every command is: settings, what it does, how that is printed, and when it ends with status 1.

A new command is one class here and one line in `granola.commands.command_list`:

```python
@dataclass(frozen=True, kw_only=True)
class Count(Command[int]):
    "Count the tiered rows of a file."  # its help

    tiered: Tiered  # declared once, in granola.shared_settings
    least: Annotated[int, Setting("Rows that are expected.", least=1, advanced=True)] = 1

    def run(self) -> int:
        return sum(1 for _ in read_tiered(self.tiered))

    def show(self, result: int) -> None:
        print(result)

    def json_result(self, result: int) -> Any:
        return {"rows": result}  # what --json prints

    def failed(self, result: int) -> bool:
        return result < self.least
```

A command that writes does so within `granola.commands.output.writing`, and messages are those of
`granola.commands.messages`.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from granola.commands.command_list import verb_of
from granola.commands.messages import note, print_json
from granola.errors import BatchWritten
from granola.settings import fit, recorded_settings

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Command(ABC, Generic[Result]):
    """A command with its settings; the docstring of a subclass is its help.

    Values that fit after all are taken: a text for a path or a choice, one text for several. Raises UsageError for
    those that a setting does not allow. One that `resumes` goes on where it was, where it is called again; one whose
    `prints` is False has no result, and no --json.
    """

    resumes: ClassVar[bool] = False
    prints: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Fit and check every value."""
        fit(self)

    @abstractmethod
    def run(self) -> Result:
        """Do it, and return what was made. Of what happens on the way, standard error is told."""

    def show(self, result: Result) -> None:
        """Print what was made: data on standard output, all else on standard error."""

    def json_result(self, result: Result) -> Any:
        """What --json prints in the place of `show`: what the result says of itself, or its fields."""
        return result

    def report_problems(self, result: Result) -> None:
        """On standard error, in either case: what was rejected, and where it is listed."""

    def failed(self, result: Result) -> bool:
        """Whether rows were rejected, or what was checked does not hold: exit status 1."""
        return bool(getattr(result, "rejected", ()))

    def execute(self, *, as_json: bool = False) -> int:
        """Run it and show what came of it, or print that as JSON, as the command line does; returns the exit status.

        JSON goes to standard error where rows go to standard output.
        """
        try:
            result = self.run()
        except BatchWritten as told:
            note(str(told))
            return 0
        if as_json:
            stream = sys.stderr if str(getattr(self, "out", "")) == "-" else sys.stdout
            print_json(self.json_result(result), file=stream)
        else:
            self.show(result)
        self.report_problems(result)
        return int(self.failed(result))

    @property
    def verb(self) -> str:
        """The words of the command, without `granola`."""
        return verb_of(type(self))

    def arguments(self) -> Mapping[str, Any]:
        """What a run record has of the settings."""
        return recorded_settings(self, type(self))
