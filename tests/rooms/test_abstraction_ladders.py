"""A builder for each class of answer."""

from __future__ import annotations

from abstraction.ladders.builders import builder_for


def test_a_builder_by_what_is_asked_and_what_the_answer_is() -> None:
    place = builder_for("place", {"place"})
    assert place is not None
    assert place is not builder_for("person", {"person"})
