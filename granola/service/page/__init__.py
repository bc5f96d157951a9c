"""The page for people, and that about the interface."""

__all__ = [
    "api_page",
    "example_questions",
    "ladder_page",
    "page_form",
    "page_words",
]
