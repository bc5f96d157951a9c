"""The `granola` command, one file a verb."""

__all__ = ["commands", "main"]  # modules; each command is loaded when it is asked for
