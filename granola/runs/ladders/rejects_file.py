"""The file of rejected rows; see `granola.commands.output`."""

from granola.commands.output import RejectsFile

__all__ = ["RejectsFile"]
