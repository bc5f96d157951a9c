"""A problem for whoever looks with a browser: a few words of HTML in the place of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import escape

from granola.service.incoming.problems import HTTPProblem

MEDIA_TYPE = "text/html; charset=utf-8"
POLICY = "default-src 'none'; img-src data:; frame-ancestors 'none'"
_PAGE = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
    "<title>{title}: GRANOLA ladders</title>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<p>{detail}.</p>\n"
    "<p><code>{code}</code></p>\n</main>\n</body>\n</html>\n"
)


def is_wanted(scope: Mapping[str, Any]) -> bool:
    """Whether a request is a browser's for a page, and none of the interface's."""
    if scope["method"] != "GET" or scope["path"].startswith("/v1/"):
        return False
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])


def page(problem: HTTPProblem) -> bytes:
    """The problem as a page without style or script."""
    detail = problem.detail[:1].upper() + problem.detail[1:]
    title = problem.to_json()["title"]
    return _PAGE.format(title=escape(title), detail=escape(detail), code=escape(problem.code)).encode()
