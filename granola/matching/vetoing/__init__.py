"""What takes a mention back: it is denied, belongs to another event, or contradicts the ladder."""

__all__ = [
    "conflicts",
    "event_places",
    "negation",
    "vetoes",
]
