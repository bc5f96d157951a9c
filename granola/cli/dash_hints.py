"""Answers that begin with a dash, such as `-5 metres`: taken for options, so the message says how to give them."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class HintingCommand(TyperCommand):
    """A command that names `--` where an argument has been taken for an unknown option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As typer's; an unknown option with a digit or a space in it gets the hint."""
        given = args[: args.index("--")] if "--" in args else args
        values = [word for word in given if word[:1] == "-" and (word[1:2].isdigit() or " " in word.split("=")[0])]
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if values and hasattr(error, "message"):
                error.message += f" Put -- before an argument that begins with a dash, as in: -- {values[0]!r}"
            raise
