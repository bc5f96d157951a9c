"""Names in text: persons, places, other forms of a name, parts of it."""
