"""The `granola` command, made of `granola.runs`."""

__all__ = ["commands", "main"]  # modules; each command is loaded when it is asked for
