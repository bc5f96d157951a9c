"""Names in text: persons, places, other forms of a name, parts of it."""

__all__ = [
    "countries",
    "longer_names",
    "mentions",
    "name_forms",
    "names",
    "partial_answers",
    "person_mentions",
    "person_names",
    "references",
]
