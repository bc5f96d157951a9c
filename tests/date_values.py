"""Ladders of values of the graph, as texts in a language: what is rendered is tested by reading it back."""

from __future__ import annotations

from abstraction.base.tiers import Level
from abstraction.ladders.literal_ladders import date_ladder
from abstraction.text.language.calendar_dates import (
    CalendarUnit,
    Era,
    ParsedDate,
    Style,
    calendar_unit_of,
    names_of_unit,
)
from kg.base.model import TimeValue


def time_value_ladder(
    value: TimeValue, *, circa: bool = False, style: Style = "day-first", era: Era | None = None
) -> list[Level]:
    """The levels of a time, under its text in the language of `era`."""
    era = era or Era()
    unit = calendar_unit_of(value)
    text = names_of_unit(unit or CalendarUnit("year", value.year), era=era, style=style)[0]
    if circa:
        text = era.language.fill_templates("circa", date=text)[0]
    return date_ladder(ParsedDate(text=text, first=value, last=None, circa=circa, style=style, era=era))
