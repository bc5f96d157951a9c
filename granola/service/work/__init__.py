"""What requests ask for, done by threads that hold the snapshot or a model."""

__all__ = [
    "entities",
    "matching_thread",
    "model_threads",
    "model_work",
    "near_names",
    "snapshot_pool",
    "snapshot_session",
    "snapshot_work",
    "work_thread",
]
