"""WikiData, and nothing about questions: reading dumps, snapshots, stores, selection and walks."""
