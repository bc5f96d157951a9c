"""The `granola` command, made of `granola.commands`."""

__all__ = ["main"]  # a module; each command is loaded when it is asked for
