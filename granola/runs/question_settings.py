"""How files of questions have their rows; see `granola.shared_settings`."""

from granola.shared_settings import QuestionSettings

__all__ = ["QuestionSettings"]
