"""The `granola` command, one file a verb."""
