"""The routes."""

__all__ = [
    "app_state",
    "judging_routes",
    "ladder_routes",
    "page_routes",
]
