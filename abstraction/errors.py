"""The errors of `abstraction`."""


class AbstractionError(Exception):
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
