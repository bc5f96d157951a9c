"""Dates with the months and centuries of other languages, Roman centuries, and Chinese and Japanese dates, in English.

Of English, German, French, Spanish, Italian, Portuguese and Dutch; in one place each, so that positions stay.
"""

from __future__ import annotations

import re

_SHORT = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = (
    "januar janner janvier enero gennaio janeiro januari january",
    "februar feber fevrier febrero febbraio fevereiro februari february",
    "marz maerz mars marzo marco maart march",
    "april avril abril aprile",
    "mai mayo maggio maio mei may",
    "juni juin junio giugno junho june",
    "juli juillet julio luglio julho july",
    "august aout agosto augustus",
    "september septembre septiembre setiembre settembre setembro",
    "oktober octobre octubre ottobre outubro october",
    "november novembre noviembre novembro",
    "dezember decembre diciembre dicembre dezembro december",
)
_MONTH = {name: short for names, short in zip(_NAMES, _SHORT, strict=True) for name in names.split()}
_MONTHS = "|".join(sorted(_MONTH, key=len, reverse=True))
_OF = r"(?:\s++(?:de|del|di|do|van))?"
_WRITTEN = re.compile(
    rf"\b(?:(?P<d>\d{{1,2}})(?P<nth>\.|er|re|o|a)?{_OF}\s++)?(?P<mon>{_MONTHS})\b\.?(?P<of>{_OF})(?=(?:\s*+,)?+\s++\d{{3,4}}\b)"
)
_DASHED = re.compile(rf"\b(\d{{1,2}})-({'|'.join(_SHORT)}|{_MONTHS})-(\d{{4}})\b")
_NEEDED = re.compile(r"[a-z]\.?(?:\s*+,)?+\s++\d{3}")
_CJK = re.compile(
    r"[\u3040-\u9fff]?(?<!\d)(?P<y>\d{3,4})\s?年(?:\s?(?P<m>\d{1,2})\s?月(?:\s?(?P<d>\d{1,2})\s?日)?)?[\u3040-\u9fff]?"
)


_LARGE = re.compile("centur|siecle|siglo|secolo|seculo|jahrhundert|eeuw|jh")
_ROMAN = {"i": 1, "v": 5, "x": 10}
_CENTURY = re.compile(
    r"(?<!\w)(?:(?P<roman>[ivx]{1,5})(?:st|nd|rd|th|e|eme|er)?[\s-]++(?:century|siecle|secolo)"
    r"|(?:siglo|secolo|seculo)\s++(?P<behind>[ivx]{1,5}|\d{1,2})"
    r"|(?P<digits>\d{1,2})(?:\.|e|eme|er|de|ste)?\s*+(?:jahrhunderts?|jh\.?|jhd?t\.?|siecle|secolo|eeuw))(?!\w)"
)


def in_english(lower: str) -> str:
    """A folded text whose dates in other languages have English months; of the same length."""
    if "年" in lower:
        lower = _CJK.sub(_with_dashes, lower)
    if "-" in lower:
        lower = _DASHED.sub(r"\1 \2 \3", lower)
    if _LARGE.search(lower):
        lower = _CENTURY.sub(_as_century, lower)
    return _WRITTEN.sub(_translated, lower) if _NEEDED.search(lower) else lower


def _as_century(found: re.Match[str]) -> str:
    """`XVIII century`, `siglo XVIII` and `18. Jahrhundert` as `18th c.`, with blanks between."""
    said = found["roman"] or found["behind"] or found["digits"]
    number = int(said) if said.isdecimal() else _number(said)
    written = f"{number}th"
    return written + "c.".rjust(len(found[0]) - len(written))


def _number(roman: str) -> int:
    values = [_ROMAN[letter] for letter in roman]
    return sum(-v if index + 1 < len(values) and v < values[index + 1] else v for index, v in enumerate(values))


def _translated(found: re.Match[str]) -> str:
    """`28. Juni 1919` as `28 jun 1919`; blanks fill what is left out."""
    if found["mon"] == "mars" and not found["d"]:
        return found[0]  # as well the planet
    day = f"{found['d']} " if found["d"] else ""
    return (day + _MONTH[found["mon"]]).ljust(len(found[0]))


def _with_dashes(found: re.Match[str]) -> str:
    year, month, day = found["y"], found["m"], found["d"]
    said = f"{year}-{month}-{day}" if day else f"{year}-{int(month):02d}" if month else year
    start = found.start("y") - found.start()
    return (" " * start + said).ljust(len(found[0]))
