"""How long a service is waited for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

from kg.web.client import RetryDelays, retry_after


def test_retry_after_in_seconds_or_as_a_date() -> None:
    assert retry_after({}) is None
    assert retry_after({"Retry-After": " 7 "}) == 7.0
    assert retry_after({"Retry-After": "-1"}) == 0.0
    assert retry_after({"Retry-After": "soon"}) is None
    assert retry_after({"Retry-After": "nan"}) is None
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    assert 50 < (retry_after({"Retry-After": soon}) or 0) <= 60
    assert retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0


def test_waits_grow_up_to_a_cap_and_differ() -> None:
    patience = RetryDelays(base=1.0, cap=60.0)
    for attempt in range(12):
        waits = {patience.delay(attempt, None) for _ in range(20)}
        whole = min(60.0, 2.0**attempt)
        assert all(whole / 2 <= wait <= whole for wait in waits)
        assert len(waits) > 10
    assert patience.delay(0, 30.0) == 30.0
