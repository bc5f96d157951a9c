"""The rules that find names in other forms and other words. Each yields the mentions of a tier in an answer.

In other forms: `in the Gospel of Luke` -> Gospel of Luke; `Toronto, Ontario` -> Toronto, where the answer names no
other container; `adenosine diphosphate (ADP)` -> either; as one word, as another name of a country, in another spelling
(`Havewala` for Havewalla). A bracket that only disambiguates (`Paris (Texas)`) is no name.

In other words: `words` and `phrase` require all informative words of a gold answer, in any order or form; `coverage`
half of their weight, where the gold answer has one level and no other rule decided.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise

from granola.matching import word_lists
from granola.matching.countries import (
    ABBREVIATIONS,
    country_adjectives,
    first_words_of_country_names_and_adjectives,
    is_country,
    is_country_or_division,
    is_national_adjective,
    leading_country_id_and_size,
    other_country_names,
    place_and_containers,
)
from granola.matching.mentions import DELICATE, SENTENCE_END, AnswerText, Mention, Mentions, Tier, may_be_ordinary_words
from granola.matching.similar_names import (
    begins_a_sibling,
    is_proper_name_of_several_words,
    names_a_sibling,
    names_another_person_than_level,
    person_of_name,
)
from granola.matching.tokens import (
    MARKS,
    MATCHING,
    MOST,
    ONE_LETTER_FROM,
    is_spelt_nearly_alike,
    key,
    loose_fold,
    loose_key,
    occurrences,
    root,
    stem,
    words,
)


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a name as folded words; `contained` where the name adds the container (`Toronto, Ontario`).

    A `partial` form leaves out what a preposition adds (`Lincoln Park in San Francisco`): it is used only where no
    level has that name. A form `alone` counts only as the whole answer, since it is no name (`the left ventricle` of
    the heart).
    """

    folded: tuple[str, ...]
    contained: bool = False
    partial: bool = False
    alone: bool = False


@MATCHING.memoize(1 << 13)
def other_forms(name: str) -> tuple[Form, ...]:
    """The other forms of a name, none equal to its own folded words."""
    whole = key(name)
    form_of = {form.folded: form for form in _form_before_bracket_and_synonym_inside(name)}
    for form in (*_forms_without_parts(name), *_shorter_forms(name, whole)):
        form_of.setdefault(form.folded, form)  # the first way to make a form decides how it may be used
    form_of.pop(whole, None)
    return tuple(form_of.values())


def _form_before_bracket_and_synonym_inside(name: str) -> Iterator[Form]:
    """The text before a bracket, and the text inside it where that is an abbreviation or a synonym."""
    before, bracket, rest = name.partition("(")
    inside = rest.partition(")")[0].strip()
    if bracket and key(before):
        yield Form(key(before))
        if is_abbreviation(inside, before):
            yield Form(key(inside))
    if len(key(inside)) > 1 and name.islower():  # erythrocytes (red blood cells)
        yield Form(key(inside))


def _forms_without_parts(name: str) -> Iterator[Form]:
    """A name without leading prepositions, without its container or a ruler's country, and the part after a colon."""
    before, bracket, _ = name.partition("(")
    for text in (name, before) if bracket else (name,):
        if short := _words_after_leading_prepositions(text):
            yield Form(short)
        if first := place_and_containers(text)[0]:
            yield Form(first, contained=True)
    title = key(name.partition(":")[2])
    if len(title) > 1 and not name[0].isdigit():
        yield Form(title)
    if numbered := _RULER.match(name):
        yield Form(key(numbered[1]))


def _shorter_forms(name: str, whole: tuple[str, ...]) -> Iterator[Form]:
    """`Yale` for Yale University, `Oxford` for University of Oxford; a name without the prepositional phrase at its
    end, where the rest is specific enough.
    """
    if len(whole) == 2 and whole[1] == "university":
        yield Form(whole[:1], alone=True)
    if whole[:2] == ("university", "of") and len(whole) > 2:
        yield Form(whole[2:], partial=True, alone=True)
    cut = _ADDED.search(name)
    if cut is None or any(c.isdigit() for c in name):
        return
    before = name[: cut.start()]
    content = [word for word in words(before) if word.text not in word_lists.FUNCTION]
    if len(content) > 1 or (cut["in"] and content and content[0].capital and content[0].text not in word_lists.CLASSES):
        yield Form(
            _words_after_leading_prepositions(before) or key(before), partial=True, alone=not content[-1].capital
        )


_RULER = re.compile(r"((?:[^\W\d_]\w* ){1,2}[IVX]+),? of \S")  # Nicholas II of Russia
_ADDED = re.compile(r"(?<=\w),? (?:(?P<in>in|at|near) |(?:of the|from|on|by|from the|for the|to the) )")


def _words_after_leading_prepositions(text: str) -> tuple[str, ...]:
    """The folded words after the leading prepositions; () where no preposition leads."""
    folded = key(text)
    start = 0
    while start < len(folded) - 1 and folded[start] in word_lists.LEADING:
        start += 1
    return folded[start:] if start else ()


def is_abbreviation(short: str, long: str) -> bool:
    """Whether `short` abbreviates `long`: ADP, or a symbol of up to two letters (Fe); only the first letter is
    compared.
    """
    letters = "".join(c for c in short if c.isalnum())
    # longer brackets are words, no abbreviations
    if not letters or len(letters) > 8 or " " in short.strip() or not letters[0].isupper():
        return False
    folded = key(long)
    if letters.isupper() and len(letters) > 1:
        return bool(folded) and folded[0][0] == letters[0].lower()
    return len(letters) <= 2 and bool(folded) and folded[0].startswith(letters[0].lower()) and len(folded) == 1


def initials_with_and_without_function_words(folded: tuple[str, ...]) -> tuple[str, str]:
    """The initials of words, with function words and without: ("domv", "dmv") of department of motor vehicles.

    Numbers are kept whole (WWII is not World War I), and a final "junior" is left out.
    """
    if len(folded) > 2 and folded[-1] in ("jr", "junior", "sr", "senior"):
        folded = folded[:-1]
    short = [(word, word if word in word_lists.ROMAN or word[0].isdigit() else word[0]) for word in folded]
    all_of = "".join(initial for _, initial in short)
    return all_of, "".join(initial for word, initial in short if word not in word_lists.FUNCTION)


def mentions_of_form_if_distinctive(
    answer: AnswerText, tier: Tier, form: tuple[str, ...], texts: tuple[str, ...]
) -> Mentions:
    """The mentions at each place where `texts` contain `form`; a form of one word of up to three letters only as the
    whole answer.
    """
    size = len(form)
    if size == 1 and len(form[0]) <= DELICATE:
        if texts == form:
            yield Mention(tier[0], tier[1], 0, 1)
        return
    if word_lists.ORDINARY.issuperset(form):
        return
    for start in occurrences(texts, form):
        yield Mention(tier[0], tier[1], start, start + size)


def mentions_by_form(answer: AnswerText, tier: Tier) -> Mentions:
    """Mentions by a name without its preposition, bracket or container, in singular or plural and in any spelling."""
    for form in other_forms(tier[1]):
        if form.partial and form.folded in answer.keys_of_tiers:  # another tier has that name
            continue
        if form.alone and form.folded != answer.word_texts:
            continue
        readings = [(form.folded, answer.word_texts, answer.word_set)]
        if not form.contained:
            readings.append((tuple(map(loose_fold, form.folded)), answer.loose_folds, answer.loose_fold_set))
        for folded, texts, present in readings:
            for mention in (
                mentions_of_form_if_distinctive(answer, tier, folded, texts) if present.issuperset(folded) else ()
            ):
                if not begins_a_sibling(answer, mention.start, tier[1]):
                    yield mention


def mentions_by_joining(answer: AnswerText, tier: Tier) -> Mentions:
    """Mentions that have the letters of the name with other word boundaries: `Mac Donald`."""
    letters = "".join(loose_key(tier[1]))
    if letters not in answer.joined_loose_folds:
        return
    if len(letters) < (LEAST_LETTERS_JOINED if letters.isalpha() or letters.isdecimal() else LEAST_CHARACTERS_OF_CODE):
        if letters == answer.joined_loose_folds and len(answer.word_texts) != len(tier[2]):  # H 2 O
            yield Mention(tier[0], tier[1], 0, len(answer.word_texts))
        return
    starts = {at: index for index, at in enumerate(accumulate(map(len, answer.loose_folds), initial=0))}
    at = answer.joined_loose_folds.find(letters)
    for _ in range(MOST):
        if at < 0:
            return
        start, end = starts.get(at), starts.get(at + len(letters))
        if start is not None and end is not None:
            yield Mention(tier[0], tier[1], start, end)
        at = answer.joined_loose_folds.find(letters, at + 1)


LEAST_LETTERS_JOINED = 5  # letters at least of a name whose word boundaries are ignored
LEAST_CHARACTERS_OF_CODE = 4  # the same where digits are among them (MP22)


def mentions_by_country(answer: AnswerText, tier: Tier) -> Mentions:
    """Mentions by another name of a country, and by its adjective: as the whole answer, or anywhere if the gold answer
    has one level.
    """
    others, adjectives = other_country_names(tier[2]), country_adjectives(tier[2])
    for other in others:
        if not answer.word_set.issuperset(other):
            continue
        if len(other) == 1 and len(other[0]) <= DELICATE and len(answer.word_texts) > 1 and answer.has_case:
            for index, word in enumerate(answer.words):  # "in the US", but not the pronoun
                if word.text == other[0] and answer.quote(index, index + 1).isupper():
                    yield Mention(tier[0], tier[1], index, index + 1)
        yield from mentions_of_form_if_distinctive(answer, tier, other, answer.word_texts)
    is_one_word = len(answer.content_folds_beyond_question) == 1
    if is_one_word and answer.content_words in adjectives and not answer.has_negation:
        yield Mention(tier[0], tier[1], 0, len(answer.words))
    country = leading_country_id_and_size(tier[2]) if len(answer.levels) == 1 else None
    if country is None or country[1] < len(tier[2]):
        return
    for start, word in enumerate(answer.words):
        named = leading_country_id_and_size(answer.word_texts[start : start + 4])
        if named is not None and named[0] == country[0] and (word.capital or not answer.has_case):
            yield Mention(tier[0], tier[1], start, start + named[1])


def candidate_tiers_by_joining(answer: AnswerText) -> Sequence[Tier]:
    """The tiers whose letters occur in the answer in sequence, blanks ignored."""
    joined = answer.joined_loose_folds
    if len(joined) < 3:  # characters; two letters occur in any text
        return ()
    return [tier for tier, folds in answer.loose_tiers if folds[0] in joined and "".join(folds) in joined]


def candidate_tiers_by_country(answer: AnswerText) -> Sequence[Tier]:
    """The tiers that are countries or national adjectives, if the answer has the first word of such a name."""
    if first_words_of_country_names_and_adjectives().isdisjoint(answer.word_set):
        return ()
    return [tier for tier in answer.tiers if is_country(tier[2]) or is_national_adjective(tier[2])]


def mentions_by_acronym(answer: AnswerText, tier: Tier) -> Mentions:
    """Mentions by the initials of a name in capitals (`DMV` for Department of Motor Vehicles), or by the words of an
    acronym.
    """
    _, name, folded = tier
    if len(folded) == 1:
        letters = folded[0] if name.replace(".", "").isupper() else ""
        yield from _mentions_of_expansion(answer, tier, letters) if 2 <= len(letters) <= MOST_WORDS_OF_ACRONYM else ()
        return
    if len(folded) > MOST_WORDS_OF_ACRONYM or (answer.text.isupper() and len(answer.words) > 1):
        return  # in a text in capitals an acronym is no different from a word
    alone = len(answer.words) == 1
    name_initials = (
        {*initials_with_and_without_function_words(folded), *initials_with_and_without_function_words(loose_key(name))}
        if answer.possible_acronyms
        else ()
    )
    for index, acronym in answer.possible_acronyms:
        word = answer.words[index]
        if not acronym.isupper() and len(folded) == 2:
            continue
        if len(folded) == 2 and (
            not (alone or answer.has_definite_article_before(index))
            or acronym in ABBREVIATIONS
            or other_country_names((word.text,))
        ):
            continue  # two letters are a state or a person's initials as well
        if word.text in name_initials:
            yield Mention(tier[0], name, index, index + 1)


def _mentions_of_expansion(answer: AnswerText, tier: Tier, letters: str) -> Mentions:
    """Mentions by words whose initials are the letters, with up to three function words more."""
    texts = answer.word_texts
    for start, first in enumerate(texts):
        if first[0] != letters[0] or (answer.has_case and not answer.words[start].capital):
            continue
        for end in range(start + len(letters), min(len(texts), start + len(letters) + 3) + 1):
            if texts[end - 1] not in word_lists.FUNCTION and letters in initials_with_and_without_function_words(
                texts[start:end]
            ):
                yield Mention(tier[0], tier[1], start, end)


MOST_WORDS_OF_ACRONYM = 12  # words of a name at most that is matched by its initials


def tiers_to_compare_by_acronym(answer: AnswerText) -> Sequence[Tier]:
    """The tiers that are acronyms, if the answer has several words; the tiers of several words, if it has an acronym.
    """
    has_acronym, several = bool(answer.possible_acronyms), len(answer.word_texts) > 1
    if not has_acronym and not several:
        return ()
    return [tier for tier in answer.tiers if (has_acronym if len(tier[2]) > 1 else several and tier[1].isupper())]


MOST_WORDS_RESPELT = 6  # words of a name at most that is matched in another spelling
WORDS_OF_NO_SENTENCE = 4  # words at most of an answer that is no sentence
LEAST_LETTERS_OF_ONE_WORD = 7  # shorter names are as near to other names (Geneva, Genova)


def mentions_by_spelling(answer: AnswerText, tier: Tier) -> Mentions:
    """The words of a name in order, at least one of them with a letter or two spelt otherwise.

    Only capitalised names. A name of a single word is matched in sentences, whose other words support it; names of
    countries never are, in the answer or in the tier.
    """
    level, name, folded = tier
    texts = answer.word_texts
    for start in range(min(len(texts) - len(folded) + 1, MOST)):
        run = texts[start : start + len(folded)]
        if not answer.words[start].capital or not all(map(is_spelt_nearly_alike, run, folded)) or is_country(run):
            continue
        # words for kinds must be spelt alike
        if any(own in word_lists.CLASSES and own != stated for stated, own in zip(run, folded, strict=True)):
            continue
        if answer.claims_beyond_tiers(start, start + len(folded)):
            yield Mention(level, name, start, start + len(folded))


def candidate_tiers_by_spelling(answer: AnswerText) -> Sequence[Tier]:
    """The capitalised tiers that are long enough and share the first letter with a capitalised word of the answer."""
    if not answer.has_case:
        return ()
    openings = {word.text[0] for word in answer.words if word.capital}
    is_sentence = len(answer.words) > WORDS_OF_NO_SENTENCE
    return [
        tier
        for tier in answer.tiers
        if tier[2][0][0] in openings
        and (1 if is_sentence else 2) <= len(tier[2]) <= MOST_WORDS_RESPELT
        and max(map(len, tier[2])) >= (ONE_LETTER_FROM if len(tier[2]) > 1 else LEAST_LETTERS_OF_ONE_WORD)
        and tier[1][:1].isupper()
        and not tier[1].startswith(("A ", "An "))
        and not is_country(tier[2])
    ]


# In other words.


def mentions_by_words(answer: AnswerText, tier: Tier) -> Mentions:
    """Mentions by all informative words in any order; words of the question need not be repeated."""
    whole = informative_folds(tier[1])
    wanted = [word for word in whole if word not in answer.loose_folds_of_question]
    if not wanted or answer.has_negation or len(whole) > MOST_WORDS_REORDERED:
        return
    if institutes_differ_by_of(answer, tier[2]):
        return
    place = _container_in_phrase(tier[1]) if len(wanted) < len(whole) else ()
    if place and not any(at and answer.word_texts[at - 1] in _WITHIN for at in occurrences(answer.word_texts, place)):
        return  # the answer "Gabon" is no "city in Gabon"
    stated = answer.content_folds_beyond_question
    has_all_but_kind = len(stated) < len(wanted) and stated == _folds_without_kind_unless_place(tier[1], answer)
    # a single word is enough only where the question has the others
    is_enough = len(wanted) > 1 or (len(whole) > 1 and (wanted[0].isdecimal() or len(wanted[0]) >= DELICATE))
    if has_all_but_kind or (is_enough and sorted(stated) == sorted(wanted)):
        yield Mention(tier[0], tier[1], 0, len(answer.words))
    elif len(wanted) > 1 and answer.loose_fold_set.issuperset(wanted):
        for start, end in _short_runs_with_all_words(answer, wanted):
            if _words_between_allow_one_name(answer, wanted, start, end):
                yield Mention(tier[0], tier[1], start, end)


def institutes_differ_by_of(answer: AnswerText, folded: tuple[str, ...]) -> bool:
    """Whether the answer names another institute, by the word "of": `University of Washington` is not Washington
    University.
    """
    if _INSTITUTES.isdisjoint(folded):
        return False
    if "of" in folded:
        return "of" not in answer.word_set and len(answer.words) <= len(folded)
    return any(word in _INSTITUTES and following == "of" for word, following in pairwise(answer.word_texts))


def _short_runs_with_all_words(answer: AnswerText, wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The words [start, end) from each wanted word to the first point that completes them, with few others between."""
    places = [index for index, word in enumerate(answer.loose_folds) if word in wanted]
    longest = len(wanted) + (
        MOST_WORDS_BETWEEN if len(wanted) > 2 else 2
    )  # if two words are wanted, fewer may be between them
    for first, start in enumerate(places):
        need = set(wanted)
        for place in islice(places, first, None):
            if place - start >= longest:
                break
            need.discard(answer.loose_folds[place])
            if not need:
                yield start, place + 1
                break


def _words_between_allow_one_name(answer: AnswerText, wanted: Sequence[str], start: int, end: int) -> bool:
    """Whether the words between the `wanted` ones allow that all are one name: no number, no denial, no end of a
    sentence.
    """
    more = [
        w for w, f in zip(answer.word_texts[start:end], answer.loose_folds[start:end], strict=True) if f not in wanted
    ]
    if len(wanted) == 2 and not (all(w in word_lists.FUNCTION for w in more) or {"and", "or"} & set(more)):
        return False
    if any(word in word_lists.QUALIFIERS or word in word_lists.NEGATIONS or word[0].isdigit() for word in more):
        return False
    return not any(set(word.gap) & set(".;!?") for word in answer.words[start + 1 : end])


_CONTAINED = re.compile(
    r"an? (?:[^\W\dA-Z_]\S* ){1,4}in (?:the )?(?P<place>(?:[A-ZÀ-Þ]\S*|of|the|and)(?: (?:[A-ZÀ-Þ]\S*|of|the|and))*)\Z"
)
_WITHIN = frozenset({"in", "within", "inside"})  # prepositions before a container


@MATCHING.memoize(1 << 13)
def _container_in_phrase(name: str) -> tuple[str, ...]:
    """The folded place in a phrase like `a city in Gabon`; () for any other name."""
    phrase = _CONTAINED.fullmatch(name)
    return key(phrase["place"]) if phrase else ()


def _folds_without_kind_unless_place(name: str, answer: AnswerText) -> tuple[str, ...] | None:
    """The loose folds of a proper name without the word for its kind: Ottoman for Ottoman Empire; None for places."""
    folded, loose_folds = key(name), loose_key(name)
    several = len(folded) > 2 and folded[-1] in _INSTITUTES  # "University" may be left out: Boise State
    if "of" in folded or name.startswith(("a ", "an ", "A ", "An ")):
        return None
    if folded[-1] in word_lists.PLACE_CLASSES and not several:
        return None
    loose_left, left = (
        (loose_folds[:-1], folded[:-1]) if folded[-1] in word_lists.CLASSES else (loose_folds[1:], folded[1:])
    )
    is_identified = not is_national_adjective(left) or folded[-1] in _KINDS_NAMED_BY_ADJECTIVE
    if not left or left in answer.keys_of_tiers or not is_identified:
        return None
    if folded[-1] not in word_lists.CLASSES and folded[0] not in ("mount", "river"):
        return None
    # what is left would name another place
    if is_country_or_division(left) or is_country_or_division(key(" ".join(left))) or len("".join(left)) <= DELICATE:
        return None
    return loose_left


_INSTITUTES = frozenset({"university", "college", "school", "institute", "hospital", "building", "center", "centre"})
# kinds that an adjective alone identifies: "Ottoman", "French"
_KINDS_NAMED_BY_ADJECTIVE = frozenset({"empire", "language", "languages", "dynasty"})
MOST_WORDS_REORDERED = 40  # words of a name at most that is matched in any order
MOST_WORDS_BETWEEN = 3  # other words allowed between the words of a name


@MATCHING.memoize(1 << 16)
def informative_folds(name: str) -> tuple[str, ...]:
    """The loose folds of the informative words of a name, in order."""
    folds = zip(key(name), loose_key(name), strict=True)  # the numeral of Elizabeth I is no function word
    return tuple(folded for word, folded in folds if word not in word_lists.FUNCTION or folded.isdigit())


@MATCHING.memoize(1 << 13)
def informative_stems_if_phrase(name: str) -> frozenset[str]:
    """The stems of the informative words of a phrase; empty where `name` is a proper name, a kind (`an American
    composer`) or a single word.
    """
    content = [word for word in words(name) if word.text not in word_lists.FUNCTION]
    if (
        len(content) < 2
        or any(word.capital for word in content[1:])
        or not any(word.text.isalpha() for word in content)
    ):
        return frozenset()
    if content[-1].text in word_lists.CLASSES or content[-1].text in word_lists.OCCUPATIONS:
        return frozenset()
    return frozenset(map(stem, informative_folds(name)))


def mentions_by_phrase(answer: AnswerText, tier: Tier) -> Mentions:
    """Mentions by all informative words of a phrase, in any form and order, close together in one sentence."""
    wanted = informative_stems_if_phrase(tier[1])
    if not wanted or answer.is_about_places or not answer.stem_set.issuperset(wanted):
        return
    left = wanted - {stem(word) for word in answer.loose_folds_of_question}
    if not left or (answer.has_negation and word_lists.NEGATIONS.isdisjoint(tier[2])):
        return
    claimed = len(answer.content_folds_beyond_question)
    if len(left) == 1 and (claimed > _CLAIMED_WORDS or len(next(iter(left))) < _LETTERS_OF_LAST_WORD):
        return
    if (run := _first_short_run_with_all_stems(answer, left)) is not None:
        yield Mention(tier[0], tier[1], *run)


def _first_short_run_with_all_stems(answer: AnswerText, stems: frozenset[str]) -> tuple[int, int] | None:
    """The first words [start, end) of one sentence that contain all the stems, with few others between."""
    places = [(index, form) for index, word in enumerate(answer.loose_folds) if (form := stem(word)) in stems]
    ends = [index for index, word in enumerate(answer.words) if word.gap and set(word.gap) & SENTENCE_END]
    for first, (start, _) in enumerate(places):
        need = set(stems)
        later = bisect_right(ends, start)
        beyond = min(
            start + 2 * len(stems) + _PHRASE_WORDS_BETWEEN + 1, ends[later] if later < len(ends) else len(answer.words)
        )
        for index, form in places[first : first + beyond - start]:
            if index >= beyond:
                break
            need.discard(form)
            if not need:
                return start, index + 1
    return None


_PHRASE_WORDS_BETWEEN = 5  # other words allowed between those of a phrase, besides one for each of its words
_LETTERS_OF_LAST_WORD = 5  # least letters of the word, where the question has all but one word of a phrase
_CLAIMED_WORDS = 3  # words that an answer may claim in that case

# least part of the weight of a gold answer's words; any value from 0.40 to 0.50 agrees with people equally well
LEAST_SHARE = 0.45
SHORT_ANSWER_WORDS = 4  # words at most of an answer that is wrong if it has another word in place of a gold one
NUMBER_WEIGHT = 1.5  # weight of a number; any other word weighs 1
NEGATED_ANSWER_WORDS = 12  # words at most of an answer to all of which a negation applies


def mention_by_coverage(answer: AnswerText) -> Mention | None:
    """A mention of the first gold answer of whose words, by weight, the answer has at least LEAST_SHARE, with every
    number.
    """
    if not answer.words:
        return None
    return next(
        (
            Mention(level, name, 0, len(answer.words))
            for level, name, folded in answer.tiers
            if not (name.isupper() and may_be_ordinary_words(folded)) and _covers_enough(answer, level, name)
        ),
        None,
    )


def _covers_enough(answer: AnswerText, level: int, name: str) -> bool:
    """Whether an answer has enough words of a name, with all that distinguish it, and no sign of another meaning."""
    alone = answer.question_asks_place and len(key(name)) == 1 and name[:1].isupper()
    if alone and answer.loose_fold_set.isdisjoint(loose_key(name)):
        return False  # Dominica and the Dominican Republic have a root in common
    if len(key(name)) > 1 and is_country_or_division(key(name)):
        return False  # Mexico is no part of New Mexico
    word_of, answer_roots = {root(word): word for word in informative_folds(name)}, answer.root_set
    for form, word in word_of.items():  # a number, a month, a letter or a mark distinguishes answers
        if form not in answer_roots and (
            word[0].isdigit() or len(word) == 1 or word in word_lists.MONTHS or word in MARKS
        ):
            return False
    asked = {root(word) for word in answer.loose_folds_of_question}
    weights = {form: NUMBER_WEIGHT if word[0].isdigit() else 1 for form, word in word_of.items() if form not in asked}
    stated = [form for form in weights if form in answer_roots]
    if not stated:
        return False
    if answer.has_negation and len(answer.words) <= NEGATED_ANSWER_WORDS and word_lists.NEGATIONS.isdisjoint(key(name)):
        return False
    if names_a_sibling(answer, name):
        return False
    if len(stated) < len(weights) and not _may_partial_answer_mean_name(answer, name, word_of, stated):
        return False
    if len(answer.words) <= SHORT_ANSWER_WORDS and names_another_person_than_level(answer, level, 0, len(answer.words)):
        return False
    if len(answer.words) <= SHORT_ANSWER_WORDS and not answer.word_set & MARKS <= set(key(name)):
        return False  # Disney+ is another than Disney
    if answer.contains_mark_absent_from_name(Mention(level, name, 0, len(answer.words))):
        return False
    return sum(map(weights.__getitem__, stated)) >= LEAST_SHARE * sum(weights.values())


def _may_partial_answer_mean_name(
    answer: AnswerText, name: str, word_of: Mapping[str, str], stated: Sequence[str]
) -> bool:
    """Whether an answer with only some of the words of a name may mean it: it has the distinctive ones, and no words
    besides.

    `word_of`: the words of the name by their roots; `stated`: the roots that the answer has and the question has not.
    """
    if institutes_differ_by_of(answer, key(name)):
        return False
    is_short = len(answer.words) <= SHORT_ANSWER_WORDS
    if is_short and any(root(word) not in word_of for word in answer.content_folds_beyond_question):
        return False
    if (is_short or is_proper_name_of_several_words(name)) and all(
        word_of[form] in word_lists.CLASSES for form in stated
    ):
        return False  # "a language" for French language, "the Cup" for FA Cup
    person = person_of_name(name)
    return person is None or (root(person.family) in answer.root_set and len(stated) > 1)


def candidate_tiers_by_phrase(answer: AnswerText) -> Sequence[Tier]:
    """The tiers of several words of which the answer has every content word in some form."""
    stems = answer.stem_set
    return [
        tier
        for tier, folds in answer.loose_tiers
        if len(folds) > 1
        and (stem(folds[-1]) in stems or tier[2][-1] in word_lists.FUNCTION)  # this cheap test rejects most
        and all(stem(fold) in stems or w in word_lists.FUNCTION for w, fold in zip(tier[2], folds, strict=True))
    ]
