"""The routes."""

__all__ = [
    "app_state",
    "attribution_routes",
    "judging_routes",
    "ladder_routes",
    "page_routes",
]
