"""The grammar of descriptions of persons."""

from __future__ import annotations

import pytest

from abstraction.descriptions.attested_words import Vocabulary
from abstraction.descriptions.person_grammar import PersonDescription, parse_person

PLAIN = Vocabulary(phrases={"cave diver": 5, "key grip": 4})


def read(description: str) -> PersonDescription:
    return parse_person(description, PLAIN)


def told(description: str) -> list[str]:
    """Occupations with the nationality before them, former ones in brackets."""
    out = []
    for occupation in read(description).occupations:
        nation = f"{occupation.nationality.text} " if occupation.nationality else ""
        lead = "".join(f"{w.text} " for w in occupation.lead)
        text = f"{lead}{nation}{occupation.texts[0]}"
        out.append(f"({text})" if occupation.former else text)
    return out


@pytest.mark.parametrize(
    ("description", "occupations"),
    [
        ("French composer", ["French composer"]),
        ("American singer, songwriter and actor (1920-2002)",
         ["American singer", "American songwriter", "American actor"]),
        ("American writer 1918-2007", ["American writer"]),
        ("American film and television director", ["American film director", "American television director"]),
        ("American television director, screenwriter, producer",
         ["American television director", "American screenwriter", "American producer"]),
        ("English singer/songwriter & record producer",
         ["English singer", "English songwriter", "English record producer"]),
        ("Scottish stage, film and television actress",
         ["Scottish stage actress", "Scottish film actress", "Scottish television actress"]),
        ("American young-adult and children's writer", ["American young-adult writer", "American children's writer"]),
        ("Novelist, political scientist (1918-1965)", ["novelist", "political scientist"]),
        ("American, singer, musician and composer", ["American singer", "American musician", "American composer"]),
        ("American recording artist; singer, songwriter",
         ["American recording artist", "American singer", "American songwriter"]),
        ("Canadian writer, and former lawyer", ["Canadian writer", "(Canadian lawyer)"]),
        ("German-born American film composer", ["German-born American film composer"]),
        ("Hong Kong-born Australian actor", ["Hong Kong-born Australian actor"]),
        ("19th-century French painter", ["19th-century French painter"]),
        ("Italian chemist, partisan, Holocaust survivor, and writer",
         ["Italian chemist", "Italian partisan", "Italian Holocaust survivor", "Italian writer"]),
        ("Russian language journalist and playwright", ["Russian-language journalist", "Russian-language playwright"]),
        ("Canadian French-language writer", ["Canadian French-language writer"]),
        ("American Disc Jockey, radio personality", ["American disc jockey", "American radio personality"]),
        ("Film Actress", ["film actress"]),
        ("Austrian politician who was Chancellor of Austria and chairman of the SPÖ", ["Austrian politician"]),
        ("American composer best known for film scores", ["American composer"]),
        ("German archaeologist of Roman provinces; university teacher",
         ["German archaeologist", "German university teacher"]),
        ("American writer of comic books and television shows", ["American writer"]),
        ("award-winning American actor", ["American actor"]),
        ("African-American singer", ["American singer"]),
        ("Austrian and British economist", ["Austrian-British economist"]),
        ("track and field athlete", ["track and field athlete"]),
        ("check forger, impostor and escape artist", ["escape artist"]),
        ("Swedish cave diver", ["Swedish cave diver"]),
        ("politician from the United States", ["politician"]),
        ("American football player", ["American football player"]),
        ("Ph.D. University of California, Los Angeles 1988", []),
        ("(1800-1826)", []),
        ("", []),
    ],
)  # fmt: skip
def test_occupations_in_order(description: str, occupations: list[str]) -> None:
    assert told(description) == occupations


def test_shortenings_are_attested_and_mean_the_same() -> None:
    (director,) = read("American film director").occupations
    assert director.texts == ("film director", "director")
    (artist,) = read("Brazilian mixed martial artist").occupations
    assert artist.texts == ("mixed martial artist", "martial artist")
    (host,) = read("American game show host").occupations
    assert host.texts == ("game show host",)


def test_words_point_into_the_original_text() -> None:
    original = "English stage (and more) and film actor"
    description = read(original)
    stage = description.occupations[0]
    assert [original[w.start : w.end] for w in stage.used[0]] == ["stage", "actor"]
    assert description.nationality is not None
    assert [original[w.start : w.end] for w in description.nationality.words] == ["English"]


@pytest.mark.parametrize(
    ("description", "offices"),
    [
        ("15th Prime Minister of Canada", [("15th", "Prime Minister", "of Canada")]),
        ("Israeli politician, 7th president of Israel (1924-2005)", [("7th", "president", "of Israel")]),
        ("31th president of the United States", [(None, "president", "of the United States")]),  # a slip of its writer
        ("singer and member of The Jackson 5 from the United States",
         [(None, "singer and member", "of The Jackson 5")]),
        ("mayor of Chicago 2001–2009", [(None, "mayor", "of Chicago")]),
        ("Count of Holstein and Schaumburg", [(None, "Count", "of Holstein and Schaumburg")]),
        ("President of Israel and writer", [(None, "President", "of Israel")]),
        ("mayor of Chicago, Illinois", [(None, "mayor", "of Chicago, Illinois")]),
        ("founder of Comintern, President of Gabon",
         [(None, "founder", "of Comintern"), (None, "President", "of Gabon")]),
        ("director of the Institute of Technology from 1863 to 1869",
         [(None, "director", "of the Institute of Technology")]),
        ("75th and current Governor of North Carolina", [("75th", "Governor", "of North Carolina")]),
        ("first female Speaker of the House", [(None, "Speaker", "of the House")]),
        ("president of a bank", []),
        ("minister of industry and Czechoslovak politician", []),
        ("bassist; founding member of Return to Forever", [(None, "founding member", "of Return to Forever")]),
        ("Avraham Harman Chair of Jewish History at Hebrew University", []),
        ("Empress consort of Emperor Shirakawa of Japan", [(None, "Empress consort", "of Emperor Shirakawa of Japan")]),
        ("author of the Harry Potter series", [(None, "author", "of the Harry Potter series")]),
        ("founder of the Benedictine order, monk", [(None, "founder", "of the Benedictine order")]),
        ("member of the Austrian constitutional court", [(None, "member", "of the Austrian constitutional court")]),
    ],
)  # fmt: skip
def test_offices_with_their_complement(description: str, offices: list[tuple[str | None, str, str]]) -> None:
    assert [(o.ordinal, o.title, o.complement) for o in read(description).offices] == offices


@pytest.mark.parametrize(
    ("description", "kin"),
    [
        ("Founding Father of the United States", []),
        ("biblical character, wife of Moses", [("wife", "Moses")]),
        ("daughter of former US President Barack Obama and Michelle Obama",
         [("daughter", "former US President Barack Obama and Michelle Obama")]),
        ("fourth wife of English actor Peter Lawford", [("fourth wife", "English actor Peter Lawford")]),
        ("politician, father of the Erasmus program", []),
        ("attorney; Arnold Schwarzenegger's nephew", [("nephew", "Arnold Schwarzenegger's")]),
    ],
)  # fmt: skip
def test_kinship(description: str, kin: list[tuple[str, str]]) -> None:
    assert [(k.word, k.of) for k in read(description).kin] == kin


def test_former_offices_are_told_so() -> None:
    (office,) = read("American lawyer, former mayor of New York City").offices
    assert office.former
    assert office.complement == "of New York City"
