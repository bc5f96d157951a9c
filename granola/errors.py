"""The errors of `granola`."""

from kg.errors import ForeseenError


class GranolaError(ForeseenError):
    """Root of every error that `granola` raises on purpose."""


class PredictionError(GranolaError, ValueError):
    """A prediction file is not in the known format, or its ids do not fit the tiered file."""


class MatcherError(GranolaError, ValueError):
    """A matcher, metric or setting of that name does not exist; the message names the nearest one."""


class UsageError(GranolaError, ValueError):
    """The command line asks for something harmful or meaningless: an input as output, an empty selection."""


class SheetError(GranolaError, ValueError):
    """The file is no annotation sheet, or has a mark other than yes, no or nothing; the message names the line."""


class SampleError(GranolaError, ValueError):
    """A row of an attribution set is invalid; the message names the field."""


class BatchWritten(GranolaError):  # noqa: N818 - no error: the requested file is written
    """Requests were written to a file instead of being asked; the message explains how to continue."""
