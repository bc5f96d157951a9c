"""What is kept of responses that come again (see granola.matching.text.match_cache)."""

from __future__ import annotations

from granola.matching.text.match_cache import Memory

DECODING = Memory(characters=1 << 22)
"""What the methods know of responses and of tiers' names."""
