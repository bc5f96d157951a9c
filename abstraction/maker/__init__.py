"""From a question to its ladder: the readers of a snapshot, the maker of rows, the pipeline."""
