"""Values, ids, names and files, which every room of kg uses."""
