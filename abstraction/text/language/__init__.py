"""Languages and texts: months, numbers, units and names as data, and the readers of dates and amounts."""
