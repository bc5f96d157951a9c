"""The hash of the code that decides, and the settings of a command."""

from __future__ import annotations

from granola.base.run_record import hash_of_modules
from granola.base.settings import settings_of
from granola.commands import Score


def test_other_code_has_another_hash() -> None:
    one, other = hash_of_modules("granola.matching.squad"), hash_of_modules("granola.evidence.evidence_task")
    assert one == hash_of_modules("granola.matching.squad") != other


def test_settings_are_fields() -> None:
    assert {"tiered", "predictions", "resamples"} <= {setting.field for setting in settings_of(Score)}
