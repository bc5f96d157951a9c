"""Commands made of runs: an option for every setting, and the outcome shown."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import typer

from granola.runs.settings import DeclaredSetting, Run, settings_of


def command_of(run: type[Run]) -> Callable[..., None]:
    """What typer makes a command of: the run's docstring is its help."""

    def command(**given: Any) -> None:
        outcome = run(**{name: value for name, value in given.items() if value is not None}).run()
        outcome.show()
        if outcome.failed:
            raise typer.Exit(1)

    parameters = [_parameter(one) for one in settings_of(run)]
    command.__name__ = run.verb.rpartition(" ")[2]
    command.__doc__ = run.__doc__
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    return command


def _parameter(declared: DeclaredSetting) -> inspect.Parameter:
    setting = declared.setting
    told: dict[str, Any] = {"help": setting.help, "metavar": setting.metavar}
    if declared.type in (int, float):
        told |= {"min": setting.least, "max": setting.most}
    if setting.shown is not None:
        told["show_default"] = setting.shown
    default = list(declared.default) if declared.many and declared.default not in (..., None) else declared.default
    if setting.positional:
        given = typer.Argument(default, **told)
    else:
        names = [setting.flag or setting.name(declared.field), *([setting.short] if setting.short else [])]
        given = typer.Option(default, *names, **told)
    annotation = list[declared.type] if declared.many else declared.type  # type: ignore[name-defined]
    return inspect.Parameter(
        declared.field,
        inspect.Parameter.KEYWORD_ONLY,
        default=given,
        annotation=annotation | None if declared.optional or default is None else annotation,
    )
