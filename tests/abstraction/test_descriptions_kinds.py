"""The grammar of descriptions of organisations, groups and works."""

from __future__ import annotations

import pytest

from abstraction.text.descriptions.attested_words import Vocabulary
from abstraction.text.descriptions.kind_grammar import parse_organisation, parse_work
from tests.tables import read_table

PLAIN = Vocabulary()


@pytest.mark.parametrize(("description", "nationality", "kinds"), read_table("organisations"))
def test_kinds_of_organisations(description: str, nationality: str | None, kinds: list[str] | None) -> None:
    read = parse_organisation(description, PLAIN)
    if kinds is None:
        assert read.kind is None
        return
    assert read.kind is not None
    assert list(read.kind.texts) == kinds
    national = read.kind.nationality or read.land
    assert (national.text if national else None) == nationality
    for text, used in zip(read.kind.texts, read.kind.used, strict=True):
        assert text.split()[-1].lower() == description[used[-1].start : used[-1].end].lower()


@pytest.mark.parametrize(
    ("description", "owners"),
    [
        ("American record label, subsidiary of Tooth & Nail Records", [("Tooth & Nail Records", False)]),
        ("American record label; currently owned by Sony Music Entertainment", [("Sony Music Entertainment", True)]),
        ("American record label; imprint of Capitol Records, Inc.", [("Capitol Records, Inc", False)]),
        ("former subsidiary of Philips", []),
        ("art school, part of University College London", [("University College London", False)]),
        ("record label", []),
    ],
)
def test_whom_an_organisation_belongs_to(description: str, owners: list[tuple[str, bool]]) -> None:
    read = parse_organisation(description, PLAIN)
    assert [(o.name, o.owns) for o in read.owners] == owners
    for owner in read.owners:
        assert owner.name in description[slice(*owner.span)]


@pytest.mark.parametrize(
    ("description", "placed", "land"),
    [
        ("university in Toronto, Ontario, Canada", True, None),
        ("independent record label in the United States", True, "American"),
        ("public service broadcaster of Japan", False, "Japanese"),
        ("rock band from England", True, "English"),
        ("university and liberal arts college in Hanover, New Hampshire", True, None),
        ("organisation founded in 1909", False, None),
    ],
)
def test_where_an_organisation_is(description: str, placed: bool, land: str | None) -> None:
    family = "group" if "band" in description else "organisation"
    read = parse_organisation(description, PLAIN, family)
    assert read.placed is placed
    assert (read.land.text if read.land else None) == land


@pytest.mark.parametrize(
    ("description", "kind"),
    [
        ("American vocal quartet", "vocal quartet"),
        ("Rock band", "rock band"),
        ("American hip hop group from Compton, California", "hip hop group"),
        ("Italian brothers, musical duo", "musical duo"),
        ("New Zealand rock band", "rock band"),
        ("An American New Wave band", "new wave band"),
    ],
)
def test_kinds_of_groups(description: str, kind: str) -> None:
    read = parse_organisation(description, PLAIN, "group")
    assert read.kind is not None
    assert read.kind.texts[0] == kind


@pytest.mark.parametrize(("description", "year", "nationality", "kind", "creators"), read_table("works"))
def test_works(description: str, year: str | None, nationality: str | None, kind: str, creators: str | None) -> None:
    read = parse_work(description, PLAIN)
    assert read is not None
    assert read.kind.texts[0] == kind
    assert (read.kind.year.text if read.kind.year else None) == year
    assert (read.kind.nationality.text if read.kind.nationality else None) == nationality
    if creators is not None or "Master" not in description:
        assert (read.creators.names if read.creators else None) == creators


def test_what_is_no_work() -> None:
    assert parse_work("French painter", PLAIN) is None
    assert parse_work("", PLAIN) is None
