"""Languages and texts: months, numbers, units and names as data, and the readers of dates and amounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from abstraction.language.amount_reader import ParsedQuantity, parse_quantity
    from abstraction.language.date_reader import ParsedDate, parse_date
    from abstraction.language.language_data import Language
    from abstraction.language.languages import language

__all__ = [
    "Language",
    "ParsedDate",
    "ParsedQuantity",
    "language",
    "parse_date",
    "parse_quantity",
]
_MODULES = {
    "Language": ".language_data",
    "ParsedDate": ".date_reader",
    "ParsedQuantity": ".amount_reader",
    "language": ".languages",
    "parse_date": ".date_reader",
    "parse_quantity": ".amount_reader",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
