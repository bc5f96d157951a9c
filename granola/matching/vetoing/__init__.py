"""What takes a mention back: it is denied, belongs to another event, or contradicts the ladder."""
