"""One builder an answer class."""
