"""Where a snapshot lives."""
