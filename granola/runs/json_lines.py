"""A file of JSON objects, one a line; see `granola.commands.output`."""

from granola.commands.output import json_lines

__all__ = ["json_lines"]
