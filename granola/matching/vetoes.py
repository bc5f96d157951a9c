"""Five vetoes that reject a mention, by the name that the verdict then has, in the order in which they are checked.

All apply to the coarser levels of a ladder, and to its finest in answers of up to SHORT words; in longer ones those of
LONG do not, since human graders ignore them there. Where there is one level, those of ALWAYS apply, and the others
except RESTATED in answers of up to SHORT words (docs/reference/scoring.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from abstraction.text.language.cldr import english_time_zone_cities, territory_names
from abstraction.text.language.languages import language
from granola.matching import word_lists
from granola.matching.countries import (
    ABBREVIATIONS,
    are_exclusive_places,
    country_ids,
    is_country_or_division,
    is_national_adjective,
    leading_country_id_and_size,
    leading_division,
    place_and_containers,
)
from granola.matching.mentions import SENTENCE_END, AnswerText, Mention, function_words_unless_english
from granola.matching.tokens import FoldedWord, key


def is_negated(answer: AnswerText, mention: Mention) -> bool:
    """Whether a mention is negated: `not in France`, `rather than France`, `not in Paris, France`; not by `not only
    France`.
    """
    if is_denied_word(answer, mention.start) or _is_taken_back_later(answer, mention):
        return True
    if answer.word_texts[max(0, mention.start - 1) : mention.start] == ("than",):  # larger than Africa
        return answer.word_texts[max(0, mention.start - 3) : mention.start - 1] not in (
            ("none", "other"),
            ("no", "other"),
        )
    if "," not in answer.words[mention.start].gap:
        return False
    smaller = next((m for m in answer.mentions_by_end.get(mention.start, ()) if m.level < mention.level), None)
    return smaller is not None and is_negated(answer, smaller)


def is_denied_word(answer: AnswerText, start: int) -> bool:
    """Whether words before word `start`, in its clause, negate what follows them."""
    before = list(_clause_words_backwards(answer, start))[::-1]
    if _DENYING.isdisjoint(before):
        return False
    near = before[-_NEAR:]
    if any(_contains_phrase(phrase, near) for phrase in word_lists.AFFIRMATIONS):
        return False
    return (
        any(word in word_lists.NEGATIONS for word in near)
        or any(_contains_phrase(phrase, near) for phrase in (*word_lists.NEGATION_PHRASES, *word_lists.HEARSAY))
        or any(_contains_phrase(phrase, before) for phrase in word_lists.ANNOUNCING)
    )


_NEAR = 6  # words before a name that are searched for a negation; a phrase that announces an error may be farther away


def _clause_words_backwards(answer: AnswerText, start: int) -> Iterator[str]:
    """The words before word `start`, from the nearest back to the beginning of the clause; nine at most."""
    for index in range(start - 1, max(-1, start - 10), -1):
        gap = answer.words[index + 1].gap if index + 1 < len(answer.words) else ""
        text = answer.words[index].text
        if '"' in gap or "”" in gap:  # a quotation is no part of the clause around it
            return
        # a negation of the question is no denial: "Who did not sign?"
        if text in word_lists.NEGATIONS and text in answer.question_words:
            continue
        if gap.strip("'\"’“”()-") or (
            text in word_lists.CLAUSE_WORDS and not (text == "but" and index and answer.word_texts[index - 1] in _BUT)
        ):
            return
        yield answer.words[index].text


# "anything but France" denies; any other "but" begins a clause
_BUT = frozenset({"anything", "anyone", "anybody", "everyone"})


def _contains_phrase(phrase: tuple[str, ...], before: list[str]) -> bool:
    size = len(phrase)
    return any(tuple(before[i : i + size]) == phrase for i in range(len(before) - size + 1))


_DENYING = word_lists.NEGATIONS | {
    phrase[0] for phrase in (*word_lists.NEGATION_PHRASES, *word_lists.HEARSAY, *word_lists.ANNOUNCING)
}


@cache
def patterns_in_english_and_language(key: str, code: str) -> tuple[re.Pattern[str], ...]:
    """The patterns under `key` in the data of English and in those of the language `code`."""
    known = (language(one).matching.get(key) for one in dict.fromkeys(("en", code)))
    return tuple(pattern for pattern in known if pattern is not None)


def _ends_of_matches_at(key: str, answer: AnswerText, at: int) -> list[int]:
    """The end offsets of the matches of the patterns under `key` at character `at` of the answer."""
    return [
        found.end()
        for pattern in patterns_in_english_and_language(key, answer.code)
        if (found := pattern.match(answer.text, at))
    ]


def _is_taken_back_later(answer: AnswerText, mention: Mention) -> bool:
    """Whether an answer takes a mention back later: `In Lyon? No, in Marseille.`; `Lyon. Wait, no, Marseille.`; `Lyon
    is wrong`; `often said to be Lyon, but ...`
    """
    end = answer.words[mention.end - 1].end
    if any(answer.text[at : at + 1].isupper() for at in _ends_of_matches_at("corrects", answer, end)):
        return True
    if _ends_of_matches_at("is_wrong", answer, end):
        return True
    if _ends_of_matches_at("contrasts", answer, end):
        before = list(_clause_words_backwards(answer, mention.start))[::-1]
        if any(_contains_phrase(phrase, before) for phrase in word_lists.UNCERTAIN):
            return True
    if "?" not in answer.text:
        return False
    for index in range(mention.end, len(answer.words)):
        if gap := set(answer.words[index].gap) & SENTENCE_END:
            return "?" in gap and answer.word_texts[index] in ("no", "nope")
    return False


def ends_a_longer_name(answer: AnswerText, mention: Mention) -> bool:
    """Whether a mention ends a longer name: `York` in New York, `Oxford` in University of Oxford."""
    first, left = answer.words[mention.start], mention.start - 1
    before = answer.words[left] if left >= 0 else None
    # a Chinese character that is no function word directly before the mention: 京都 in 東京都
    if (
        before is not None
        and (before.end == first.start and first.text[0] >= _HAN <= before.text[0])
        and (
            answer.claims_beyond_tiers(left, mention.start)
            and before.text not in function_words_unless_english(answer.code)
        )
    ):
        return True
    if left < 0 or first.gap.strip("-") or (answer.has_case and not first.capital):
        return False
    if answer.overlaps_mention(left, left + 1):
        return False
    word = answer.words[left]
    if word.text in word_lists.DIRECTIONS or word.text in word_lists.POINTS:
        return _direction_makes_another_region(answer, mention, word)
    if (
        word.text in word_lists.QUALIFIERS
        and (word.capital or not answer.has_case)
        and word.text not in answer.question_words
    ):
        if answer.is_non_english_function_word((word.text,)) and (left == 0 or not answer.has_case):
            return False  # la langue allemande
        return not (mention.name.islower() and first.text in word_lists.OCCUPATIONS)  # Former politician
    return answer.has_case and _ends_name_begun_before(answer, mention, left)


def is_part_of_other_country_name(answer: AnswerText, mention: Mention) -> bool:
    """Whether a mention is part of the longer name of a country that is no tier: New Guinea in Papua New Guinea."""
    own = country_ids(key(mention.name)) | answer.country_ids_of_tiers
    theirs = _territory_names(answer.code) - {folded for _, _, folded in answer.tiers}
    around = 2 if language(answer.code).separates_words_by_spaces else _LONGEST_TERRITORY
    return any(
        answer.word_texts[start:end] in theirs or country_ids(answer.word_texts[start:end]) - own
        for start in range(max(0, mention.start - around), mention.start + 1)
        for end in range(mention.end, min(len(answer.word_texts), mention.end + around) + 1)
        if end - start > mention.end - mention.start
    )


_LONGEST_TERRITORY = 6  # characters on either side of a name that are compared with territories: 南 of 南スーダン


@cache
def _territory_names(code: str) -> frozenset[tuple[str, ...]]:
    """The folded names of the states and territories of CLDR in a language."""
    return frozenset(map(key, territory_names(code).values()))


_HAN = "\u3400"  # the first Chinese character


def _ends_name_begun_before(answer: AnswerText, mention: Mention, index: int) -> bool:
    """Whether a mention in a text with capitals ends a name that includes word `index`, the one before it."""
    word = answer.words[index]
    if word.text == "of" and index > 0 and answer.words[index - 1].text not in word_lists.PARTS:
        return answer.words[index - 1].capital and answer.claims_beyond_tiers(index - 1, index)
    single = mention.end - mention.start == 1
    if single and is_national_adjective(key(mention.name)):
        return False  # Brazilian Portuguese is Portuguese
    if mention.name.islower() and leading_country_id_and_size((word.text,)) is not None:
        return False  # the U.S. President is a president
    names_of_level = [folded for level, _, folded in answer.tiers if level == mention.level]
    if any(word.text in folded for folded in names_of_level):
        return False  # Roman Catholic, where Roman Catholicism and Catholic are names of one level
    if answer.question_asks_person and mention.level == 0 and all(len(folded) == 1 for folded in names_of_level):
        return False  # Gerald Ford, where the gold answer is Ford
    # A name of several words may have more first names: Achille Claude Debussy; not a single word or a country.
    bears_none = single or country_ids(answer.word_texts[mention.start : mention.end])
    return bool(bears_none) and word.capital and answer.claims_beyond_tiers(index, index + 1)


def _direction_makes_another_region(answer: AnswerText, mention: Mention, direction: FoldedWord) -> bool:
    """Whether the direction before a mention makes it another region: `South Korea` for Korea, `North Carolina`, `West
    Germany`; not `northern India`, `Eastern Europe`.
    """
    if any(
        is_country_or_division(answer.word_texts[mention.start - 1 : end]) for end in (mention.end, mention.end + 1)
    ):
        return True
    if direction.text in word_lists.DIRECTIONS or (answer.has_case and not direction.capital):
        return False
    parted = word_lists.PARTED_BY_POINTS.get(answer.words[mention.start].text, ())
    return direction.text not in parted


def begins_a_longer_name(answer: AnswerText, mention: Mention) -> bool:
    """Whether a mention begins a longer name: `Paris` in Paris Hilton; `University` in University of Washington where
    a tier is a university.
    """
    last, right = answer.words[mention.end - 1], mention.end
    if not (answer.has_case and last.capital and right < len(answer.words)):
        return False
    word = answer.words[right]
    if word.text == "of" and mention.name.islower() and right + 1 < len(answer.words):
        return answer.words[right + 1].capital and answer.claims_beyond_tiers(right + 1, right + 2)
    between = answer.text[last.end : word.start]
    if not word.capital or between.strip("- ") or answer.overlaps_mention(right, right + 1):
        return False
    if function_words_unless_english(answer.code) and key(mention.name) != answer.word_texts[mention.start : right]:
        return False  # an inflected name: Roms Altstadt
    if (
        word.text in _TOWNS
        and is_country_or_division(key(mention.name))
        and mention.name not in english_time_zone_cities()
    ):
        return True  # Kansas City, Mexico City: towns, not the state; unlike New York City
    if word.text in _JUNIOR:  # Al Gore Jr.; the elder and the third have their number
        return False
    return word.text not in word_lists.FUNCTION | word_lists.KINDS and word.text not in answer.question_words


_TOWNS = frozenset({"city", "county", "township"})  # kinds that make a town of the name of a state
_JUNIOR = frozenset({"jr", "junior"})


def follows_a_finer_claim(answer: AnswerText, mention: Mention) -> bool:
    """Whether a tier follows a finer claim that no tier states: `Lyon, France`; `Kurt Masur, a German conductor`.

    A claim finer than level 1 cannot be checked and rejects nothing.
    """
    if mention.level == 0:
        return False
    if answer.end_of_unknown_first_part is not None and mention.start >= answer.end_of_unknown_first_part:
        return True  # short parts between commas, read from the finest
    return _is_joined_to_earlier_name(answer, mention) or _precedes_more_specific_name(answer, mention)


def _is_joined_to_earlier_name(answer: AnswerText, mention: Mention) -> bool:
    """Whether a capitalised name that is no tier precedes the mention, with only a copula, a preposition or a comma
    between.
    """
    if not answer.has_case:
        return False
    qids = country_ids(answer.word_texts[mention.start : mention.end])
    if qids and any(country_ids(answer.word_texts[max(0, mention.start - n) : mention.end]) & qids for n in (2, 3)):
        return False  # Federal Republic of Germany
    joint = _start_of_joining_words_before(answer, mention)
    if joint is None:
        return False
    bridge, parted = joint
    larger = next((m for m in answer.mentions_by_end.get(bridge, ()) if m.level < mention.level), None)
    if larger is not None:  # Lyon, Rhône, France: a veto on the part before applies to this part
        return follows_a_finer_claim(answer, larger)
    return _is_joined_to_earlier_claim(answer, bridge, parted=parted)


def _start_of_joining_words_before(answer: AnswerText, mention: Mention) -> tuple[int, bool] | None:
    """The index of the first of the words that join a mention to an earlier word, and whether a comma or bracket is
    between.

    None where neither joins them, or where a sentence ends between.
    """
    common = not answer.words[mention.start].capital
    bridge = mention.start
    parted = False
    while bridge > 0:
        gap, word = answer.words[bridge].gap, answer.words[bridge - 1]
        if set(gap) & SENTENCE_END:
            return None
        parted = parted or "," in gap or "(" in gap
        if word.text not in word_lists.BRIDGE and not (common and not word.capital and mention.start - bridge < 4):
            break
        bridge -= 1
    return (bridge, parted) if bridge < mention.start or parted else None


def _is_joined_to_earlier_claim(answer: AnswerText, bridge: int, *, parted: bool) -> bool:
    """Whether a name that makes a claim ends before word `bridge`; after a comma it may end with its kind."""
    end = bridge
    while parted and 0 < end > bridge - 3 and not answer.words[end - 1].capital:
        if answer.words[end - 1].text in word_lists.FUNCTION or answer.words[end - 1].gap:
            break
        end -= 1  # Norwood Junction railway station, England
    if not parted and "-" in answer.words[end].gap:
        return False  # German-born, Paris-based: modifiers, no names
    start = answer.start_of_capitalised_run_before(end)
    while end - start > 1 and answer.words[end - 1].text in word_lists.CLASSES:
        end -= 1  # Cambridge University, where "university" is a tier
    if start == end or answer.words[end - 1].text in word_lists.CONTINENTS | word_lists.PARTS:
        return False  # somewhere in Asia; on the East Coast
    return answer.claims_beyond_tiers(start, end)


def _precedes_more_specific_name(answer: AnswerText, mention: Mention) -> bool:
    """Whether a more specific name follows the mention: `France, specifically Lyon`."""
    index = mention.end
    marked = False
    while index < len(answer.words) and not answer.words[index].capital:
        word = answer.words[index].text
        marked = marked or word in word_lists.SPECIFICALLY
        if word not in word_lists.BRIDGE and word not in word_lists.SPECIFICALLY and word != "more":
            return False
        index += 1
    return marked and index < len(answer.words) and answer.claims_beyond_tiers(index, index + 1)


def _country_name_is_bracketed_with_another_country(answer: AnswerText, mention: Mention) -> bool:
    """Whether the bracket after a country's name puts it into another country: `Georgia (U.S. state)` where Georgia is
    meant as a country.
    """
    if mention.end >= len(answer.words) or answer.words[mention.end].gap != "(":
        return False
    if mention.name not in territory_names("en").values():
        return False
    own, other = (
        country_ids(key(mention.name)),
        leading_country_id_and_size(answer.word_texts[mention.end : mention.end + 3]),
    )
    return other is not None and other[0] not in own | answer.country_ids_of_tiers


def _is_in_another_division(answer: AnswerText, mention: Mention) -> bool:
    """Whether the state or province after a place is not the place's own: `Springfield, Ohio` where it is Illinois."""
    containers = [folded for level, _, folded in answer.tiers if level > mention.level]
    for level, name, _ in answer.tiers:
        containers += place_and_containers(name)[1] if level == mention.level else ()
    start = mention.end + (answer.word_texts[mention.end : mention.end + 1] == ("in",))
    stated = leading_division(answer.word_texts[start : start + 3])
    if stated is None and start < len(answer.words) and answer.words[start].gap:
        stated = ABBREVIATIONS.get(answer.quote(start, start + 1))
    if stated is None or stated in containers:
        return False
    return any(are_exclusive_places(stated, container) for container in containers)


def describes_another_name(answer: AnswerText, mention: Mention) -> bool:
    """Whether the mention, a description, precedes the name of someone who is no tier: `an Austrian composer, Joseph
    Haydn`.
    """
    if mention.level == 0 or not answer.has_case or answer.words[mention.end - 1].capital:
        return False
    start = mention.end
    while start < len(answer.words) and start < mention.end + 2 and answer.words[start].text in word_lists.NAMED:
        start += 1
    if start >= len(answer.words) or answer.words[start].gap not in ("", ",", ":", "(", "-", "–", "—"):
        return False
    end = start
    while end < len(answer.words) and end - start < _NAME_WORDS:
        word = answer.words[end]
        if end > start and word.gap.strip("'-."):
            break
        if not word.capital or not word.text[0].isalpha() or word.text in word_lists.FUNCTION:
            break
        end += 1
    if end < len(answer.words) and not answer.words[end].gap and answer.word_texts[end] not in word_lists.FUNCTION:
        return False  # no phrase ends here
    # a date or a nationality is no other name
    if not answer.claims_beyond_tiers(start, end) or not word_lists.MONTHS.isdisjoint(answer.word_texts[start:end]):
        return False
    return not answer.word_texts[end - 1].endswith(word_lists.DEMONYM_ENDINGS)


_NAME_WORDS = 4  # capitalised words of a name at most; more are a headline


def is_only_nearby(answer: AnswerText, mention: Mention) -> bool:
    """Whether the answer says only near the mentioned place: `near Paris`, `north of Paris`; not `the north of
    France`.

    Nearness is ignored in long answers to questions with one level.
    """
    if len(answer.levels) == 1 and len(answer.words) > SHORT:
        return False
    before = [word.text for word in answer.words[max(0, mention.start - 2) : mention.start]]
    if len(before) == 2 and before[0] in word_lists.POINTS and before[1] == "of":
        at = mention.start - 2
        at -= at > 0 and answer.words[at - 1].text in word_lists.POINTS  # south-east
        if answer.has_definite_article_before(at) and not (at > 0 and answer.words[at - 1].text == "to"):
            return False
    return any(tuple(before[-len(phrase) :]) == phrase for phrase in word_lists.NEARBY)


# Repetitions of the question: `The capital of Australia is Sydney` makes no claim of Australia.


def repeats_question_with_neighbour(answer: AnswerText, start: int, end: int) -> bool:
    """Whether the words [start, end) occur in the question with the same neighbouring word as in the answer.

    The same words may be a claim elsewhere in the answer.
    """
    repeated = answer.word_texts[start:end]
    if not answer.question or not answer.question_words.issuperset(repeated):
        return False
    asked = key(answer.question)
    has_left = start < len(answer.words) and not answer.words[start].gap.strip("-'")
    has_right = end < len(answer.words) and not answer.words[end].gap.strip("-'")
    neighbours = _content_neighbours(
        answer.word_texts, start if has_left else 0, start, end if has_right else len(answer.word_texts)
    )
    if not neighbours or not repeated:
        return False
    return any(
        asked[at : at + len(repeated)] == repeated
        and not neighbours.isdisjoint(_content_neighbours(asked, at, at, at + len(repeated)))
        for at in range(len(asked) - len(repeated) + 1)
    )


def _content_neighbours(texts: Sequence[str], first: int, start: int, end: int) -> frozenset[tuple[str, str]]:
    """The content words on either side of `start` and `end`, with the side; none on the left where `first` is 0.

    The word before "of" may as well follow: the capital of Australia, Australia's capital.
    """
    neighbours = []
    if first > 1 and texts[start - 1] == "of":
        neighbours.append(("of", texts[start - 2]))
    elif first:
        neighbours.append(("left", texts[start - 1]))
    if end < len(texts):
        neighbours += [("right", texts[end]), ("of", texts[end])]
    return frozenset((side, word) for side, word in neighbours if word not in word_lists.FUNCTION)


def is_offered_with_alternative(answer: AnswerText, mention: Mention) -> bool:
    """Whether an answer offers an alternative that is no tier: `France or Germany`, `Paris, or possibly Lyon`; then it
    states neither.
    """
    words = answer.words
    if answer.has_case and not words[mention.start].capital:
        return False  # a bank or credit union
    end = _end_of_place_chain(answer, mention)
    if end < len(words) and not _BETWEEN.isdisjoint(words[end].gap) and _is_name_beyond_tiers(answer, end):
        return True  # Paris/Lyon, Paris -> Lyon
    if mention.start and "/" in words[mention.start].gap and _is_name_beyond_tiers(answer, mention.start - 1):
        return True
    if _is_in_list_of_alternatives(answer, end):
        return True
    start, joined = _skip_joining_words(answer, end, 1)
    if end < start < len(words):
        stop = start + 1
        while stop < len(words) and not words[stop].gap and stop < start + 3:
            stop += 1
        if answer.claims_beyond_tiers(start, stop) if joined else _is_name_beyond_tiers(answer, start):
            return True
    left, joined = _skip_joining_words(answer, mention.start - 1, -1)
    if not 0 <= left < mention.start - 1:
        return False
    return answer.claims_beyond_tiers(left, left + 1) if joined else _is_name_beyond_tiers(answer, left)


def _is_in_list_of_alternatives(answer: AnswerText, end: int) -> bool:
    """Whether a mention is in a list like `Paris, Lyon, or Nice`, or in guesses of which others are no tiers."""
    if _is_list_of_guesses(answer):
        return any(_is_name_beyond_tiers(answer, index) for index in range(len(answer.words)))
    index = end
    while index < len(answer.words) and answer.words[index].gap == "," and _is_name_beyond_tiers(answer, index):
        index += 1
    return end < index < len(answer.words) and answer.words[index].gap == "," and answer.word_texts[index] == "or"


def _is_list_of_guesses(answer: AnswerText) -> bool:
    """Whether an answer is a list of a few short items, one per line, numbered or separated by `;` or `|`, to a
    question for one.
    """
    items = [item for item in _ITEM.split(answer.text) if item.strip()]
    if items and _OF_GUESSES.search(items[0]):
        del items[0]
    if not 1 < len(items) <= _GUESSES or any(len(item.split()) > _OF_A_GUESS for item in items):
        return False
    return not (answer.question and _ASKS_SEVERAL.search(answer.question))


_GUESSES, _OF_A_GUESS = 5, 4  # items at most, and words of an item at most
MOST_GUESSED = (_GUESSES + 1) * (_OF_A_GUESS + 1)  # words of such a list with its introduction and numbers
_ITEM = re.compile(r"(?:\A|\s)(?:[-*•]|\(?\d{1,2}[.)])\s|[;|\n]")
_OF_GUESSES = re.compile(r"\b(?:guess|answer|candidate|possib|option)\w*[^:]*:\s*\Z", re.IGNORECASE)
_ASKS_SEVERAL = re.compile(
    r"\b(?:are|were|list|all|names|some|order|cast|two|three|four|five|\d+"
    r"|(?:what|which) (?:\w+ )?(?!was|does|has)\w{2,}[^\Ws]s)\b",
    re.IGNORECASE,
)


def _end_of_place_chain(answer: AnswerText, mention: Mention) -> int:
    """The end of the coarser tiers that follow a mention after commas, as Ontario follows in "Toronto, Ontario, or
    Ottawa".
    """
    end = mention.end
    while end < len(answer.words) and answer.words[end].gap == ",":
        larger = next((m for m in answer.mentions if m.start == end and m.level > mention.level), None)
        if larger is None:
            break
        end = larger.end
    return end


def _skip_joining_words(answer: AnswerText, index: int, step: int) -> tuple[int, bool]:
    """The index of the first word from `index` on (backwards with `step` -1) that is no "or" or "maybe", and whether
    an "or" was skipped.
    """
    joined = False
    while 0 <= index < len(answer.words) and answer.words[index].text in _JOINING:
        joined = joined or answer.words[index].text == "or"
        index += step
    return index, joined


_BETWEEN = frozenset("/→>")  # signs that join alternatives
_JOINING = word_lists.MAYBE | {"probably", "even", "or"}  # words that join alternatives


def _is_name_beyond_tiers(answer: AnswerText, index: int) -> bool:
    word = answer.words[index]
    named = answer.has_case and word.capital and word.text[0].isalpha() and word.text not in word_lists.CONTINENTS
    return named and answer.claims_beyond_tiers(index, index + 1)


def has_other_adjective_than_finer_tier(answer: AnswerText, mention: Mention) -> bool:
    """Whether the noun of a mention has another adjective than in a finer tier: `American composer` where a finer tier
    is `French composer`.
    """
    left, first = mention.start - 1, answer.words[mention.start]
    if left < 0 or first.gap or first.capital or not answer.claims_beyond_tiers(left, left + 1):
        return False
    adjective, head = answer.words[left], answer.words[mention.end - 1].text
    national = adjective.text.endswith(word_lists.DEMONYM_ENDINGS) or is_national_adjective((adjective.text,))
    if not national and not (left > 0 and adjective.capital):
        return False
    finer = [folded for level, _, folded in answer.tiers if level < mention.level and len(folded) > 1]
    by_nationality = national and head in word_lists.OCCUPATIONS  # a German composer may be an opera composer
    return any(
        folded[-1] == head and (not by_nationality or any(is_national_adjective((word,)) for word in folded[:-1]))
        for folded in finer
    )


SHORT = 6  # words at most of an answer to which every veto applies
RESTATED, ANOTHER, CONTRADICTED = "restated", "another-name", "contradicted"
ALWAYS = frozenset({"negated"})
# Vetoes that human graders ignore in long answers, on the finest level of a ladder.
LONG = frozenset({"alternatives", ANOTHER})
VETOES: tuple[tuple[str, tuple[Callable[[AnswerText, Mention], bool], ...]], ...] = (
    ("negated", (is_negated, is_only_nearby)),
    (RESTATED, (lambda answer, mention: repeats_question_with_neighbour(answer, mention.start, mention.end),)),
    ("alternatives", (is_offered_with_alternative,)),
    (ANOTHER, (ends_a_longer_name, begins_a_longer_name, has_other_adjective_than_finer_tier)),
    (
        CONTRADICTED,
        (
            _country_name_is_bracketed_with_another_country,
            _is_in_another_division,
            follows_a_finer_claim,
            describes_another_name,
        ),
    ),
)
"""Each veto with its tests, any of which rejects a mention."""


def veto(answer: AnswerText, mention: Mention) -> str | None:
    """The name of the first veto that rejects the mention, or None."""
    ladder, coarser = len(answer.levels) > 1, mention.level > 0
    short = len(answer.words) <= SHORT or (len(answer.words) <= MOST_GUESSED and _is_list_of_guesses(answer))
    if not short and not language(answer.code).separates_words_by_spaces:  # without spaces: one run of characters
        short = not any(word.gap or word.text in function_words_unless_english(answer.code) for word in answer.words)
    if is_part_of_other_country_name(answer, mention):
        return ANOTHER
    for name, tests in VETOES:
        applies = name in ALWAYS or coarser or (ladder and name not in LONG) or (short and name != RESTATED)
        if applies and any(test(answer, mention) for test in tests):
            return name
    return None
