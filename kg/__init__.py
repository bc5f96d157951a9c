"""WikiData, and nothing about questions: reading dumps, snapshots, stores, selection and walks."""

__version__ = "0.2.0"  # of all three packages
