"""Work of requests, done by threads with the snapshot or with nothing."""
