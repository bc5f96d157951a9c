"""The page for people, and that about the interface."""
