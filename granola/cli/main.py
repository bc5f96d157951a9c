"""The `granola` command: a thin shell over the library, one file a verb.

Data goes to stdout, all else to stderr. Exit status: 0 all well, 1 some rows were rejected or a check
failed, 2 wrong usage or unusable input.
"""

from __future__ import annotations

import os
import sys

import typer

from abstraction.errors import AbstractionError
from granola import __version__
from granola.cli import demo, export, ladder, score, snapshot, tiers
from granola.errors import GranolaError
from kg.errors import KGError

app = typer.Typer(
    name="granola",
    help="Answers at several granularities from WikiData: snapshots, ladders, scores.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
snapshot.app.command(name="export")(export.export)
app.add_typer(snapshot.app, name="snapshot")
app.command(name="tiers")(tiers.tiers)
app.command(name="ladder")(ladder.ladder)
app.command(name="score")(score.score)
app.command(name="demo")(demo.demo)


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
    try:
        app(standalone_mode=True)
    except (KGError, AbstractionError, GranolaError) as error:
        print(f"granola: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # The reader of our output left; say nothing, and keep the interpreter from flushing into the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except FileNotFoundError as error:
        print(f"granola: no such file: {error.filename}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("granola: interrupted", file=sys.stderr)
        sys.exit(130)
