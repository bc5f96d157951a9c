"""The `granola` command: a thin shell over `granola.commands`.

Data goes to stdout, all else to stderr. Exit status: 0 all well, 1 some rows were rejected or a check
failed, 2 wrong usage or unusable input.
"""

from __future__ import annotations

import gc
import io
import os
import re
import sqlite3
import sys
from functools import cache
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from abstraction.errors import AbstractionError
from granola import __version__
from granola.base.terminal_lines import visible
from granola.commands.cli.config_file import use_config
from granola.commands.command_list import COMMANDS, GROUPS
from granola.errors import GranolaError, UsageError
from kg.base.files import LOOP, is_full, is_loop, why_unwritten
from kg.errors import KGError, WebAddressError
from kg.web.addresses import scrubbed, without_secrets

UNUSABLE, INTERRUPTED, CLOSED_PIPE = 2, 130, 141  # the last two as a shell reports SIGINT and SIGPIPE: 128 + the signal

_ADDRESS = re.compile(r"([a-z][a-z0-9]+):(/+)(.+)", re.IGNORECASE)


@cache
def _command(name: str) -> Any:
    """The click command of a verb, or the group of its members; imports their modules."""
    from granola.commands.cli.from_settings import typer_command
    from granola.commands.command_list import command_class

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
        return _command(cmd_name) if cmd_name in COMMANDS else None

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
        formatter.write_text("granola COMMAND --help tells a command's options.")

    @property
    def commands(self) -> dict[str, Any]:
        """All of them."""
        return {name: _command(name) for name in COMMANDS}

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


def _version(value: bool) -> None:
    if value:
        typer.echo(f"granola {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", help="Print the version and stop.", callback=_version, is_eager=True
    ),
) -> None:
    pass


def main() -> None:
    """Run the command line; turn expected errors into one line on stderr and status 2."""
    gc.set_threshold(100_000, 20, 100)  # rows read stay alive: checking them again takes a tenth of a run
    _open_closed_streams()
    if len(sys.argv) == 1:
        # A bare `granola` prints the help.
        sys.argv.append("--help")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an ASCII terminal gets escapes for other characters
            stream.reconfigure(errors="backslashreplace")
    status = _exit_status()
    if status in (UNUSABLE, CLOSED_PIPE):
        _drop_output()
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


def _exit_status() -> int:
    try:
        _check_arguments(sys.argv[1:])
        use_config()
        return _run_app()
    except WebAddressError as error:
        return _report_error(f"{error}; a granola service takes questions at POST /v1/ladders: see docs/service.md")
    except (KGError, AbstractionError, GranolaError) as error:
        return _report_error(str(error))
    except BrokenPipeError:
        return CLOSED_PIPE  # the reader of our output is gone: no message can reach it
    except FileNotFoundError as error:
        return _report_error(_missing_file_message(without_secrets(str(error.filename))))
    except OSError as error:
        why = why_unwritten(Path(), error)
        if error.filename is not None:
            return _report_error(f"{os.fsdecode(error.filename)}: {why}")
        return _report_error(f"cannot write to standard output: {why}" if is_full(error) else why)
    except UnicodeError as error:
        return _report_error(f"text that cannot be read or written as UTF-8: {error}")
    except sqlite3.Error as error:
        return _report_error(f"SQLite: {error}")
    except KeyboardInterrupt:
        _report_error(f"interrupted; {_resume_hint(sys.argv[1:])}")
        return INTERRUPTED


def _run_app() -> int:
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
        path = argument.partition("=")[2] if argument.startswith("--") else argument
        if is_loop(path):
            raise UsageError(LOOP.format(path))


def _resume_hint(words: list[str]) -> str:
    """The hint on how to continue a command that was interrupted."""
    from granola.commands.command_list import VERBS, command_class

    verb = next((verb for verb in (" ".join(words[:2]), *words[:1]) if verb in VERBS), None)
    if verb is not None and command_class(verb).resumes:
        return "the same command goes on with what is kept, if anything is"
    return "nothing half-written is left, and the same command begins anew"


def _missing_file_message(name: str) -> str:
    """The message for a missing file; for an address, that only files are read."""
    address = _ADDRESS.match(name)
    if address is None:
        return f"no such file: {name}"
    return f"{address[1]}://{address[3]} is an address, and files are read from this machine; fetch it first"


def _report_error(message: str) -> int:
    print(f"granola: {visible(scrubbed(message))}", file=sys.stderr)
    return UNUSABLE


def _drop_output() -> None:
    """Keep the interpreter from flushing into a closed pipe or a full disk at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


if __name__ == "__main__":
    main()
