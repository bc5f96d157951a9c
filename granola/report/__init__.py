"""Reports for people: tables in the terminal and the one-file HTML page."""
