"""The page for people: a form and a ladder."""
