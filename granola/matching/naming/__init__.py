"""Names in text: persons, places, other forms of a name, parts of it."""

__all__ = [
    "countries",
    "mentions",
    "name_forms",
    "names",
    "partial_answers",
    "person_names",
    "references",
]
