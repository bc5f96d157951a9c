"""The errors of `abstraction`."""

from kg.errors import ForeseenError


class AbstractionError(ForeseenError):
    """Root of every error that `abstraction` raises on purpose."""


class RowError(AbstractionError, ValueError):
    """An input file or row is not in any of the known formats; the message names file and line."""


class UnknownRelationError(AbstractionError, ValueError):
    """A relation was asked for that is no property id or has no row in the relation table."""


class UnknownLinkerError(AbstractionError, ValueError):
    """A way of linking was asked for that there is not; the message names those there are."""


class LanguageError(AbstractionError, ValueError):
    """A language's data file is not as it must be; the message names the file, the key and what is allowed."""


class DatasetError(AbstractionError, ValueError):
    """A dataset cannot be built as asked: its place is taken, its questions are missing, a phraser broke its word."""


class ModelError(AbstractionError, RuntimeError):
    """A language model cannot be used at all; what was answered until then is kept."""


class ModelSpecError(ModelError, ValueError):
    """What names a model names none, or with settings that there are not; the message says what is allowed."""


class ModelAccessError(ModelError, PermissionError):
    """A model's server refuses who asks, or has no such model: every further request would fail the same way."""


class ModelUnreachableError(ModelError, ConnectionError):
    """A model's server does not answer, or fails whatever it is asked."""


class PromptError(AbstractionError, ValueError):
    """A prompt file is not as it must be; the message names the file and the line."""


class ReplyError(AbstractionError, ValueError):
    """A model's reply is not in the form that was asked for."""
