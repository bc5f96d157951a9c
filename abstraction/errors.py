"""The errors of `abstraction`."""

from kg.errors import ForeseenError


class AbstractionError(ForeseenError):
    """Root of every error that `abstraction` raises on purpose."""


class RowError(AbstractionError, ValueError):
    """An input file or row is not in any of the known formats; the message names file and line."""


class UnknownRelationError(AbstractionError, ValueError):
    """A relation was asked for that is no property id or has no row in the relation table."""


class UnknownLinkerError(AbstractionError, ValueError):
    """The name of a linking method is unknown; the message lists the known ones."""


class LanguageError(AbstractionError, ValueError):
    """A data file of a language is malformed; the message names the file, the key and the allowed values."""


class DatasetError(AbstractionError, ValueError):
    """A dataset cannot be built as requested: its folder is taken, its questions are missing, or a phraser or scorer
    returned other rows than it was given.
    """


class ModelError(AbstractionError, RuntimeError):
    """A language model cannot be used at all; the answers until then are kept."""


class ModelSpecError(ModelError, ValueError):
    """The specification of a model is wrong, or has unknown settings; the message says what is allowed."""


class ModelAccessError(ModelError, PermissionError):
    """A server refuses the key, or has no such model: every further request would fail in the same way."""


class ModelUnreachableError(ModelError, ConnectionError):
    """A server does not answer, or fails at every request."""


class PromptError(AbstractionError, ValueError):
    """A prompt file is malformed; the message names the file and the line."""


class ReplyError(AbstractionError, ValueError):
    """A model's reply is not in the requested form."""
