"""What is sent: who may ask and how much, its types, and what is said of what is wrong."""

__all__ = [
    "body_parsing",
    "documents",
    "headers",
    "limits",
    "middleware",
    "problem_page",
    "problems",
    "schemas",
    "validation_errors",
]
