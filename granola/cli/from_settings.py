"""Commands made of runs: an option for every setting, and the outcome shown."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import typer

from granola.runs.settings import DeclaredSetting, Run, settings_of


def command_of(run: type[Run]) -> Callable[..., None]:
    """What typer makes a command of: the run's docstring is its help."""

    def command(**settings: Any) -> None:
        outcome = run(**{name: value for name, value in settings.items() if value is not None}).run()
        outcome.show()
        if outcome.failed:
            raise typer.Exit(1)

    parameters = [_parameter(declared) for declared in settings_of(run)]
    command.__name__ = run.verb.rpartition(" ")[2]
    command.__doc__ = run.__doc__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    return command


def _parameter(declared: DeclaredSetting) -> inspect.Parameter:
    setting = declared.setting
    options: dict[str, Any] = {"help": setting.help, "metavar": setting.metavar}
    if declared.type in (int, float):
        options |= {"min": setting.least, "max": setting.most}
    if setting.shown is not None:
        options["show_default"] = setting.shown
    default = list(declared.default) if declared.many and declared.default not in (..., None) else declared.default
    if setting.positional:
        parameter = typer.Argument(default, **options)
    else:
        names = [setting.flag or setting.name(declared.field), *([setting.short] if setting.short else [])]
        parameter = typer.Option(default, *names, **options)
    annotation = list[declared.type] if declared.many else declared.type  # type: ignore[name-defined]
    return inspect.Parameter(
        declared.field,
        inspect.Parameter.KEYWORD_ONLY,
        default=parameter,
        annotation=annotation | None if declared.optional or default is None else annotation,
    )
