"""A problem as an answer: JSON for programs, and a few words of HTML for whoever looks with a browser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import escape
from starlette.responses import Response

from granola.service.incoming.problems import HTTPProblem

MEDIA_TYPE = "application/problem+json"
_POLICY = "default-src 'none'; img-src data:; frame-ancestors 'none'"
_PAGE = (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
    "<title>{title}: GRANOLA ladders</title>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<p>{detail}.</p>\n"
    "<p><code>{code}</code></p>\n</main>\n</body>\n</html>\n"
)


def problem_answer(problem: HTTPProblem, scope: Mapping[str, Any]) -> Response:
    """The answer to a request; a page without style or script where a browser asks for one outside `/v1`."""
    is_page = scope["method"] == "GET" and not scope["path"].startswith("/v1/")
    if not is_page or not any(name == b"accept" and b"text/html" in value for name, value in scope["headers"]):
        return Response(problem.body(), problem.status, problem.headers(), media_type=MEDIA_TYPE)
    title, detail = problem.to_json()["title"], problem.detail[:1].upper() + problem.detail[1:]
    page = _PAGE.format(title=escape(title), detail=escape(detail), code=escape(problem.code))
    headers = {**problem.headers(), "Content-Security-Policy": _POLICY}
    return Response(page, problem.status, headers, media_type="text/html; charset=utf-8")
