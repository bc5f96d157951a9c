"""Settings, run records, code hashes and terminal lines, which every room of granola uses."""
