"""The `granola` command: a thin shell over `granola.commands`.

Data goes to stdout, all else to stderr. Exit status: 0 all well, 1 some rows were rejected or a check
failed, 2 wrong usage or unusable input.

The nearest `granola.toml`, from the current folder upwards, has defaults for all commands; a command line overrides it:

    snapshot = "wikidata.sqlite"      # --snapshot of every command that needs one; from the file's folder
    language = "de"                   # --language
    contact = "me@example.org"        # GRANOLA_CONTACT, where the environment does not have it
"""

from __future__ import annotations

import gc
import inspect
import io
import os
import re
import sqlite3
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from abstraction.errors import AbstractionError
from granola import __version__
from granola.base.terminal_lines import escape_controls
from granola.commands.command_list import COMMANDS, GROUPS, VERBS, command_class
from granola.errors import GranolaError, UsageError
from kg.base.files import is_out_of_space, write_failure_reason
from kg.errors import KGError, WebAddressError
from kg.web.addresses import message_without_secrets, without_secrets

if TYPE_CHECKING:
    from granola.base.settings import DeclaredSetting
    from granola.commands.command import Command

UNUSABLE, INTERRUPTED, CLOSED_PIPE = 2, 130, 141  # the last two as a shell reports SIGINT and SIGPIPE: 128 + the signal
_ADDRESS = re.compile(r"([a-z][a-z0-9]+):(/+)(.+)", re.IGNORECASE)
NAME = "granola.toml"
KEYS = ("snapshot", "language", "contact")


@cache
def _click_command(name: str) -> Any:
    """The click command of a verb, or the group of its members; imports their modules."""
    entry = COMMANDS[name]
    app = typer.Typer(add_completion=False, help=entry.line, no_args_is_help=bool(entry.members))
    for verb in entry.verbs:
        # "snapshot build" is the member `build` of the group `snapshot`.
        word = verb.rpartition(" ")[2]
        app.command(name=word)(typer_command(command_class(verb)))
    command: Any = typer.main.get_group(app) if entry.members else typer.main.get_command(app)
    command.name = name
    return command


class Commands(TyperGroup):
    """The commands, each imported when it is asked for: importing all takes longer than many a command runs."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command with this name, None where there is none."""
        return _click_command(cmd_name) if cmd_name in COMMANDS else None

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, in the order of the help."""
        return list(COMMANDS)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The commands in groups, from the table alone: no command is imported to print its line."""
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(self.help or "")
        for title, entries in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(entry.name, entry.line) for entry in entries])
        with formatter.section("Options"):
            formatter.write_dl(
                [
                    ("--version", "Print the version and stop."),
                    ("--install-completion", "Have the shell complete commands and options."),
                    ("-h, --help", "Show this and stop."),
                ]
            )
        formatter.write_paragraph()
        formatter.write_text("granola COMMAND --help lists a command's options.")

    @property
    def commands(self) -> dict[str, Any]:
        """All commands by name."""
        return {name: _click_command(name) for name in COMMANDS}

    @commands.setter
    def commands(self, given: object) -> None:
        pass


app = typer.Typer(
    name="granola",
    cls=Commands,
    help="Answers at several granularities from WikiData: snapshots, ladders, scores.",
    no_args_is_help=True,
    # typer would print local values, which may contain secrets.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"granola {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", help="Print the version and stop.", callback=_print_version, is_eager=True
    ),
) -> None:
    pass


_JSON = inspect.Parameter(
    "as_json", inspect.Parameter.KEYWORD_ONLY, annotation=bool,
    default=typer.Option(
        False, "--json", help="Print the result as one JSON object.", rich_help_panel="Of every command"
    ),
)  # fmt: skip


def typer_command(command: type[Command[Any]]) -> Callable[..., None]:
    """The function that typer runs for a command: its docstring is the help, its exit status that of `execute`."""

    def run_command(*, as_json: bool = False, **settings: Any) -> None:
        # An option that was not given leaves the default of the command.
        made = command(**{name: value for name, value in settings.items() if value is not None})
        if status := made.execute(as_json=as_json):
            raise typer.Exit(status)

    from granola.base.settings import settings_of

    parameters = [_parameter_of_setting(declared) for declared in settings_of(command)]
    # --json is no setting of a command: it chooses how the result is printed.
    if command.prints:
        parameters.append(_JSON)
    run_command.__name__ = command.__name__
    run_command.__doc__ = command.__doc__
    run_command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads the options from this
    return run_command


def _parameter_of_setting(declared: DeclaredSetting) -> inspect.Parameter:
    setting, default = declared.setting, declared.default
    # granola.toml gives the defaults of a required snapshot, and of the language.
    if default == {"snapshot": ..., "language": "en"}.get(declared.field, "") and not setting.positional:
        default = read_config().get(declared.field, default)
    bounds = f" [{setting.allowed_range}]" if setting.allowed_range else ""
    options: dict[str, Any] = {"help": setting.help + bounds, "metavar": setting.metavar}
    if setting.advanced:
        options["rich_help_panel"] = "Advanced"
    # typer expects lists for options that may be repeated.
    if declared.many and default not in (..., None):
        default = list(default)
    if setting.positional:
        parameter = typer.Argument(default, **options)
    else:
        names = [setting.flag or setting.command_line_name(declared.field), *([setting.short] if setting.short else [])]
        parameter = typer.Option(default, *names, **options)
    annotation = list[declared.type] if declared.many else declared.type  # type: ignore[name-defined]
    return inspect.Parameter(
        declared.field,
        inspect.Parameter.KEYWORD_ONLY,
        default=parameter,
        annotation=annotation | None if declared.optional or default is None else annotation,
    )


@cache
def read_config() -> Mapping[str, str]:
    """Read the nearest granola.toml; empty without one. Raises UsageError for an unknown key."""
    here = Path.cwd()
    path = next((folder / NAME for folder in (here, *here.parents) if (folder / NAME).is_file()), None)
    if path is None:
        return {}
    import difflib
    import tomllib

    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}") from error
    for key, value in table.items():
        if key not in KEYS:
            # Most unknown keys are typing errors.
            near = difflib.get_close_matches(key, KEYS, n=1)
            hint = f"; is {near[0]!r} meant?" if near else f"; there are {', '.join(KEYS)}"
            raise UsageError(f"{path}: {key!r} is no setting{hint}")
        if not isinstance(value, str) or not value.strip():
            raise UsageError(f"{path}: {key} is {value!r}; expected a text")
    snapshot = table.get("snapshot")
    # Relative to the file, so that commands work from any folder below it.
    if snapshot is not None and "://" not in snapshot:
        table = {**table, "snapshot": str(path.parent / snapshot)}
    return dict(table)


def main() -> None:
    """Run the command line; turn expected errors into one line on stderr and status 2."""
    gc.set_threshold(100_000, 20, 100)  # rows stay alive: frequent collections would take a tenth of the time
    _open_closed_streams()
    if len(sys.argv) == 1:
        # A bare `granola` prints the help.
        sys.argv.append("--help")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an ASCII terminal gets escapes for other characters
            stream.reconfigure(errors="backslashreplace")
    status = _run_reporting_errors()
    if status in (UNUSABLE, CLOSED_PIPE):
        try:
            sys.stdout.flush()
        except OSError:  # otherwise the interpreter fails when it flushes at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


def _open_closed_streams() -> None:
    """Open /dev/null for streams that the shell closed (`>&-`): files opened later would get their numbers."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            # os.open returns the lowest free number, which is usually the one that is closed.
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  # open until the process ends


def _run_reporting_errors() -> int:
    try:
        _check_arguments(sys.argv[1:])
        if contact := read_config().get("contact"):
            os.environ.setdefault("GRANOLA_CONTACT", contact)  # the environment overrides the file
        return _run_app_and_flush()
    except WebAddressError as error:
        return _report_error(f"{error}; a granola service takes questions at POST /v1/ladders: see docs/service.md")
    except (KGError, AbstractionError, GranolaError) as error:
        return _report_error(str(error))
    except BrokenPipeError:
        return CLOSED_PIPE  # the reader of our output is gone: no message can reach it
    except FileNotFoundError as error:
        name = without_secrets(str(error.filename))
        if (address := _ADDRESS.match(name)) is None:
            return _report_error(f"no such file: {name}")
        address_given = f"{address[1]}://{address[3]} is an address"
        return _report_error(f"{address_given}, and files are read from this machine; fetch it first")
    except OSError as error:
        why = write_failure_reason(Path(), error)
        if error.filename is not None:
            return _report_error(f"{os.fsdecode(error.filename)}: {why}")
        return _report_error(f"cannot write to standard output: {why}" if is_out_of_space(error) else why)
    except UnicodeError as error:
        return _report_error(f"text that cannot be read or written as UTF-8: {error}")
    except sqlite3.Error as error:
        return _report_error(f"SQLite: {error}")
    except KeyboardInterrupt:
        words = sys.argv[1:]
        verb = next((verb for verb in (" ".join(words[:2]), *words[:1]) if verb in VERBS), None)
        hint = "nothing half-written is left, and the same command begins anew"
        if verb is not None and command_class(verb).resumes:
            hint = "the same command goes on with what is kept, if anything is"
        _report_error(f"interrupted; {hint}")
        return INTERRUPTED


def _run_app_and_flush() -> int:
    """Run the command and flush its output while a failure of that can still be reported."""
    try:
        app(standalone_mode=True, prog_name="granola")
    except SystemExit as ended:
        cause = ended.__context__
        if isinstance(cause, BrokenPipeError):  # click would end with status 1
            raise cause from None
        if ended.code == INTERRUPTED:  # typer ends with this status on SIGINT, without a message
            raise KeyboardInterrupt from None
        sys.stdout.flush()
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    sys.stdout.flush()
    return 0


def _check_arguments(arguments: list[str]) -> None:
    for before, argument in zip(["", *arguments], arguments, strict=False):
        written = argument if before == "--out" else argument.removeprefix("--out=") if argument[:6] == "--out=" else ""
        # Otherwise a local folder "https:" would be made.
        if _ADDRESS.match(written):
            raise UsageError(f"--out {written} is an address; outputs are files of this machine")
        # Bytes that are not UTF-8 arrive as lone surrogates.
        if not argument.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in argument):
            shown = argument.encode("utf-8", "backslashreplace").decode()
            raise UsageError(f"argument {shown} is not UTF-8; give it, or name the file, in UTF-8")


def _report_error(message: str) -> int:
    print(f"granola: {escape_controls(message_without_secrets(message))}", file=sys.stderr)
    return UNUSABLE


if __name__ == "__main__":
    main()
