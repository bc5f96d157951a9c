"""The grammar of WikiData's descriptions."""
