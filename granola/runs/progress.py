"""How far a run is; see `granola.commands.messages`."""

from granola.commands.messages import counting, with_progress

__all__ = ["counting", "with_progress"]
