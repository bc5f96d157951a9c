"""The headers that every answer has, whatever gives it: a route, the gate, or a connection that is refused."""

from __future__ import annotations

from granola import __version__

ALWAYS = (
    (b"granola-version", __version__.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
POLICY = b"content-security-policy"  # that of the answer itself, or else:
NOTHING_RUNS = (POLICY, b"default-src 'none'; frame-ancestors 'none'")
