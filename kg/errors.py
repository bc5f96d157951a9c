"""The errors of `kg`: one root, leaves that also are the builtin a caller expects."""


class KGError(Exception):
    """Root of every error that `kg` raises on purpose."""


class SourceError(KGError, ValueError):
    """A dump or other source cannot be read: truncated, not JSON, or of an unknown kind."""


class SnapshotError(KGError, ValueError):
    """A file is no snapshot, is damaged, or was written by a newer schema."""


class DamagedSnapshotError(SnapshotError):
    """A snapshot of the right version that is truncated, unfinished or cannot be read through."""


class SelectionError(KGError, ValueError):
    """A selection asks for something impossible: a malformed id, a property that is none."""


class ExportError(KGError, ValueError):
    """An export cannot be written: a full disk, a folder that is not ours, an output that exists."""
