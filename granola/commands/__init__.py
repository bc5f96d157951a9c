"""Every command as a value: a frozen dataclass whose fields are the command's options.

```python
from granola.commands import Score

report = Score(tiered="tiers.jsonl", predictions="predictions.jsonl").run()
```

`run()` returns the result of the library, `show(result)` prints it as the command does, and `execute()` does both.
`granola.commands.command` describes how to write a command; `granola.commands.command_list` lists all.
"""

from __future__ import annotations

from typing import Any

from granola.commands.command_list import VERBS, class_name, command_class

_VERBS = {class_name(verb): verb for verb in VERBS}
__all__ = sorted(_VERBS)  # each is imported on first use: importing all takes longer than many a command runs


def __getattr__(name: str) -> Any:
    if name not in _VERBS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return command_class(_VERBS[name])


def __dir__() -> list[str]:
    return __all__
