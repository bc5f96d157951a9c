"""Commands of typer made from those of `granola.commands`: an option for every setting."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import typer

from granola.base.settings import DeclaredSetting, settings_of
from granola.commands.cli.config_file import config
from granola.commands.command import Command

_JSON = inspect.Parameter(
    "as_json", inspect.Parameter.KEYWORD_ONLY, annotation=bool,
    default=typer.Option(
        False, "--json", help="Print the result as one JSON object.", rich_help_panel="Of every command"
    ),
)  # fmt: skip


def typer_command(command: type[Command[Any]]) -> Callable[..., None]:
    """The function for typer: its docstring is the help, its exit status that of `execute`."""

    def run(*, as_json: bool = False, **settings: Any) -> None:
        # An option that was not given leaves the default of the command.
        made = command(**{name: value for name, value in settings.items() if value is not None})
        if status := made.execute(as_json=as_json):
            raise typer.Exit(status)

    parameters = [_parameter(declared) for declared in settings_of(command)]
    # --json is no setting of a command: it chooses how the result is printed.
    if command.prints:
        parameters.append(_JSON)
    run.__name__ = command.__name__
    run.__doc__ = command.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads the options from this
    return run


def _with_config(declared: DeclaredSetting) -> DeclaredSetting:
    """The setting with its default from granola.toml: for a required snapshot, and for the language."""
    # Only these defaults may come from granola.toml.
    usual = {"snapshot": ..., "language": "en"}
    if declared.field in usual and declared.default == usual[declared.field] and not declared.setting.positional:
        return replace(declared, default=config().get(declared.field, declared.default))
    return declared


def _parameter(declared: DeclaredSetting) -> inspect.Parameter:
    setting = declared.setting
    declared = _with_config(declared)
    bounds = f" [{setting.allowed}]" if setting.allowed else ""
    options: dict[str, Any] = {"help": setting.help + bounds, "metavar": setting.metavar}
    if setting.shown is not None:
        options["show_default"] = setting.shown
    if setting.advanced:
        options["rich_help_panel"] = "Advanced"
    # typer expects lists for options that may be repeated.
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
