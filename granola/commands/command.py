"""The base of every command: its settings, its work, the printing of its result, and its exit status.

A new command is one class here and one line in `granola.commands.command_list`:

```python
@dataclass(frozen=True, kw_only=True)
class Count(Command[int]):
    "Count the tiered rows of a file."  # its help

    tiered: Tiered  # declared once, in granola.scoring.shared_settings
    least: Annotated[int, Setting("Rows that are expected.", least=1, advanced=True)] = 1

    def run(self) -> int:
        return sum(1 for _ in read_tiered(self.tiered))

    def show(self, result: int) -> None:
        print(result)

    def json_result(self, result: int) -> Any:
        return {"rows": result}  # printed by --json

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

from granola.base.settings import check_and_convert, recorded_settings
from granola.commands.command_list import verb_of
from granola.commands.messages import note, print_json, report_rejects
from granola.errors import BatchWritten

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Command(ABC, Generic[Result]):
    """A command with its settings; the docstring of a subclass is its help.

    Convertible values are accepted: a text for a path or a choice, a single text for several. Raises UsageError for
    values that a setting does not allow. A command that `resumes` continues an interrupted run when called again; one
    whose `prints` is False has no result, and no --json.
    """

    resumes: ClassVar[bool] = False
    prints: ClassVar[bool] = True
    faults: ClassVar[tuple[str, ...]] = ("rejected",)

    def __post_init__(self) -> None:
        """Convert and check every value."""
        check_and_convert(self)

    @abstractmethod
    def run(self) -> Result:
        """Execute the command and return its result. Warnings on the way go to standard error."""

    def show(self, result: Result) -> None:
        """Print the result: data on standard output, all else on standard error."""

    def json_result(self, result: Result) -> Any:
        """The value that --json prints instead of `show`: by default `to_json` of the result, or its fields."""
        return result

    def report_problems(self, result: Result) -> None:
        """Report on standard error, with and without --json, the rejected rows and the file that lists them.

        By default the rows under "rejected" of a result that is a mapping.
        """
        if isinstance(result, Mapping):
            report_rejects("", result.get("rejected", ()))

    def failed(self, result: Result) -> bool:
        """Whether rows were rejected or a check failed, exit status 1: one of the fields `faults` has content."""
        found = result if isinstance(result, Mapping) else {name: getattr(result, name, ()) for name in self.faults}
        return any(found.get(name) for name in self.faults)

    def execute(self, *, as_json: bool = False) -> int:
        """Run the command and show its result, or print it as JSON; returns the exit status, as for the command line.

        JSON goes to standard error where rows go to standard output.
        """
        try:
            result = self.run()
        # Writing the requests of a batch is what the user asked for, not a failure.
        except BatchWritten as told:
            note(str(told))
            return 0
        # Standard output must not mix rows with the JSON of the result.
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
        """The settings for a run record."""
        return recorded_settings(self, type(self))
