"""The grammar of WikiData's descriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from abstraction.descriptions.attested_words import Vocabulary
    from abstraction.descriptions.organisation_grammar import parse_organisation
    from abstraction.descriptions.person_grammar import parse_person
    from abstraction.descriptions.place_grammar import parse_place
    from abstraction.descriptions.work_grammar import parse_work

__all__ = [
    "Vocabulary",
    "parse_organisation",
    "parse_person",
    "parse_place",
    "parse_work",
]
_MODULES = {
    "Vocabulary": ".attested_words",
    "parse_organisation": ".organisation_grammar",
    "parse_person": ".person_grammar",
    "parse_place": ".place_grammar",
    "parse_work": ".work_grammar",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
