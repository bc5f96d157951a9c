"""What people look at: tables in the terminal and the one-file HTML page."""
