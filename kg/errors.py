"""The errors of `kg`: one root, leaves that also are the builtin a caller expects."""


class ForeseenError(Exception):
    """The errors that the packages raise on purpose. Any other error that one row raises is a fault of the program."""


class KGError(ForeseenError):
    """Root of every error that `kg` raises on purpose."""


class SourceError(KGError, ValueError):
    """A dump or other source cannot be read: truncated, not JSON, or of an unknown kind."""


class SnapshotError(KGError, ValueError):
    """A file is no snapshot, is damaged, or was written by a newer schema."""


class DamagedSnapshotError(SnapshotError):
    """A snapshot of the right version that is truncated, unfinished or cannot be read through."""


class MirrorError(SnapshotError):
    """A Neo4j server has no snapshot, another snapshot, or a changed or unfinished one; or it cannot execute a
    request.
    """


class WebAddressError(MirrorError):
    """An address of the web is given where a snapshot's is wanted."""


class DamagedMirrorError(MirrorError):
    """A mirror with content that cannot be read, for another program has written to it."""


class MirrorUnreachableError(MirrorError, ConnectionError):
    """No Neo4j server answers, or it went away and did not come back in time."""


class MirrorAccessError(MirrorError, PermissionError):
    """The Neo4j server refuses the credentials, or the account lacks a privilege."""


class MirrorTimeoutError(MirrorError, TimeoutError):
    """A query took longer than it was allowed."""


class SelectionError(KGError, ValueError):
    """A selection that is impossible, such as one with a malformed id or a property that does not exist."""


class WorkerError(KGError, RuntimeError):
    """A worker process was ended from outside, most likely for want of memory."""


class ExportError(KGError, ValueError):
    """An export cannot be written: a full disk, a folder that is not ours, an output that exists."""


class OutputError(KGError, OSError):
    """A file cannot be put where it is asked for: a folder, a device or a pipe is there."""


class MissingContactError(KGError, ValueError):
    """An online source is asked without saying who asks."""


class ServiceError(KGError, ConnectionError):
    """A service does not answer, refuses, or answers what cannot be used, also after several tries."""


class RateLimitedError(ServiceError):
    """A service asks for less, or for later."""


class TimeLimitError(ServiceError):
    """A service, or our own time limit, cut a question off: it may be asked in smaller pieces."""


class BadAnswerError(ServiceError):
    """An answer that is cut off, no JSON, or not the JSON that was asked for."""


class QueryError(ServiceError):
    """A service refuses a question as wrong; asking again is no use."""


class EngineError(KGError, RuntimeError):
    """Spark is not installed, finds no Java, or gives a job up."""


class QueryShapeError(KGError, ValueError):
    """A query is no single triple, path, tree or union, or is damaged; `reason` is the kind, for counts."""

    def __init__(self, message: str, *, reason: str = "no such shape") -> None:
        super().__init__(message)
        self.reason = reason


class GroundingError(KGError, ValueError):
    """A query leads to more entities, or takes longer, than is allowed."""
