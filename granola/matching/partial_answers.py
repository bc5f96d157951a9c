"""Gold answers in other words, or in most of their words.

`words` and `phrase` require all informative words, in any order or form; `coverage` half of their weight, where the
gold answer has one level and no other rule decided.

None matches a sibling, a name that differs from a tier's in the distinguishing word: Best Actress, Manchester United.
A name and its siblings begin or end alike: `University of California, Berkeley` and `..., Los Angeles`. So an answer is
compared with the name from either end, and the first word in which they differ decides.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from granola.matching import word_lists
from granola.matching.countries import contradict, is_adjective, is_known_place
from granola.matching.mentions import (
    DELICATE,
    SENTENCE_END,
    AnswerText,
    Mention,
    Mentions,
    Tier,
    may_be_ordinary_words,
)
from granola.matching.person_names import is_another_person, whole_person
from granola.matching.tokens import (
    MARKS,
    MATCHING,
    FoldedWord,
    is_near,
    key,
    loose_fold,
    loose_key,
    occurrences,
    root,
    stem,
    words,
)

_ADDING = frozenset({"of", "in", "at", "for", "from", "to", ",", "(", ":"})
"""Words and signs before an addition to a name, interchangeable: `Trinity College in Dublin`, `..., Cambridge`."""
_FURTHEST = 3  # function words at most between two words of a name


@dataclass(frozen=True, slots=True)
class _NameStructure:
    """The content words of a name in order, and the joints between them: none, "of", ","."""

    content: tuple[FoldedWord, ...]
    joints: tuple[frozenset[str], ...]
    folds: frozenset[str]
    is_person: bool


@MATCHING.memoize(1 << 13)
def _parse_name(name: str) -> _NameStructure:
    name_words = words(name)
    places = [index for index, word in enumerate(name_words) if word.text not in word_lists.FUNCTION]
    content = tuple(name_words[index] for index in places)
    return _NameStructure(
        content,
        tuple(_words_and_signs_between(name_words, first, second) for first, second in pairwise(places)),
        frozenset(root(loose_fold(word.text)) for word in content),
        whole_person(name) is not None,
    )


def _words_and_signs_between(all_words: Sequence[FoldedWord], first: int, second: int) -> frozenset[str]:
    """The function words and signs between two words, without hyphens and points."""
    between = {word.text for word in all_words[first + 1 : second]}
    # hyphens and points differ between spellings of one name
    signs = {sign for word in all_words[first + 1 : second + 1] for sign in word.gap if sign not in "-.'’)"}
    return frozenset(between | signs)


def is_proper_name(name: str) -> bool:
    """Whether a name begins with a capital and most of its words are capitalised or numbers: Piano Concerto in G
    major.
    """
    content = _parse_name(name).content
    written = [word.capital or word.text[0].isdigit() for word in content]
    return len(content) > 1 and content[0].capital and 2 * sum(written) > len(content)


def names_a_sibling(answer: AnswerText, name: str) -> bool:
    """Whether an answer names a sibling of a proper name anywhere."""
    if not is_proper_name(name):
        return False
    kind, of, rest = name.partition(" of ")
    turned = (f"{rest} {kind}",) if of and kind.lower() in word_lists.CLASSES else ()  # Michigan State University
    ends = [(named, end, step) for named in map(_parse_name, (name, *turned)) for end, step in ((0, 1), (-1, -1))]
    return any(
        word.text == named.content[end].text
        and (word.capital or not answer.has_case)
        and _diverges_as_sibling(answer, index, named, step)
        for index, word in enumerate(answer.words)
        for named, end, step in ends
    )


def begins_a_sibling(answer: AnswerText, start: int, name: str) -> bool:
    """Whether a sibling of a name begins at word `start` of an answer."""
    named = _parse_name(name)
    return (
        len(named.content) > 1
        and answer.texts[start] == named.content[0].text
        and _diverges_as_sibling(answer, start, named, 1)
    )


def _diverges_as_sibling(answer: AnswerText, index: int, named: _NameStructure, step: int) -> bool:
    """Whether an answer with the first word of a name at `index`, or with `step` -1 the last, goes on as a sibling."""
    left = list(named.content[::step])
    for joint in named.joints[::step]:
        del left[0]
        places = range(index + step, index + step * (_FURTHEST + 2), step)
        content = (p for p in places if 0 <= p < len(answer.words) and answer.texts[p] not in word_lists.FUNCTION)
        following = next(content, None)
        if following is None or not _is_joined_alike(answer, joint, *sorted((index, following))):
            return False
        if answer.texts[following] != left[0].text:
            return _means_another(answer, following, left, named, joint)
        if left[0].capital and answer.has_case and not answer.words[following].capital:
            return False
        index = following
    return False


def _is_joined_alike(answer: AnswerText, own: frozenset[str], first: int, second: int) -> bool:
    """Whether two words are joined like those of the name, or both pairs by words or signs of _ADDING."""
    stated = _words_and_signs_between(answer.words, first, second)
    if not stated and answer.text[answer.words[first].end : answer.words[second].start].strip(" -"):
        return not own
    return own == stated or (bool(own & _ADDING) and stated <= _ADDING | own)


def _means_another(
    answer: AnswerText, index: int, left: Sequence[FoldedWord], named: _NameStructure, joint: frozenset[str]
) -> bool:
    """Whether word `index` differs in meaning from the first of the name's words that are `left` after a joint."""
    stated, own = answer.words[index], left[0]
    if not answer.question_words.isdisjoint((stated.text, own.text)):
        return False
    adjacent = {answer.texts[place] for place in (index - 1, index + 1) if 0 <= place < len(answer.texts)}
    is_qualifier = stated.text in word_lists.QUALIFIERS and stated.text not in named.folds  # South Florida
    is_fixed = (not joint or is_qualifier) and not named.is_person and own.text not in word_lists.LEGAL_FORMS
    is_comparable = _is_comparable_new_word(answer, stated, own, named)
    if own.text in adjacent and is_fixed and stated.text.isalpha() and is_comparable:
        return True  # Ohio State University, for Ohio University
    if own.text in answer.word_set:
        return False
    if stated.text in {word.text for word in left[1:2]}:
        return is_fixed  # Ohio University, for Ohio State University
    if not is_comparable or not answer.makes_claim(index, index + 1):
        return False
    if "," in joint:
        place, other = _leading_place([word.text for word in left]), _leading_place(answer.texts[index : index + 3])
        if is_known_place(place) or is_known_place(other):
            return contradict(other, place)
    is_short = own.text.startswith(stated.text) or stated.text.startswith(own.text)  # Ave for Avenue
    return not (is_short or is_near(stated.text, own.text) or sorted(stated.text) == sorted(own.text))  # Sheikh, Shiekh


def _leading_place(texts: Sequence[str]) -> tuple[str, ...]:
    """The longest name of a country or division that begins the words, else their first word."""
    return next((known for size in (3, 2) if is_known_place(known := tuple(texts[:size]))), tuple(texts[:1]))


def _is_comparable_new_word(answer: AnswerText, stated: FoldedWord, own: FoldedWord, named: _NameStructure) -> bool:
    """Whether a word is not in the name, and written like the name's word: both capitalised, or both numbers."""
    if root(loose_fold(stated.text)) in named.folds:
        return False
    numbers = [word.text[0].isdigit() and not word.capital for word in (stated, own)]
    return all(numbers) or (not any(numbers) and (stated.capital or not own.capital or not answer.has_case))


def mentions_by_words(answer: AnswerText, tier: Tier) -> Mentions:
    """Mentions by all informative words in any order; words of the question need not be repeated."""
    whole = informative_folds(tier[1])
    wanted = [word for word in whole if word not in answer.loose_question_words]
    if not wanted or answer.has_negation or len(whole) > MOST_WORDS_REORDERED:
        return
    if is_another_institute(answer, tier[2]):
        return
    place = _container_of(tier[1]) if len(wanted) < len(whole) else ()
    if place and not any(at and answer.texts[at - 1] in _WITHIN for at in occurrences(answer.texts, place)):
        return  # the answer "Gabon" is no "city in Gabon"
    says_all_but_kind = len(answer.claimed_folds) < len(wanted) and answer.claimed_folds == _without_kind(
        tier[1], answer
    )
    if says_all_but_kind or _claims_exactly(answer, wanted, whole):
        yield Mention(tier[0], tier[1], 0, len(answer.words))
    elif len(wanted) > 1 and answer.loose_set.issuperset(wanted):
        for start, end in _closest_runs(answer, wanted):
            if _is_one_name(answer, wanted, start, end):
                yield Mention(tier[0], tier[1], start, end)


def is_another_institute(answer: AnswerText, folded: tuple[str, ...]) -> bool:
    """Whether an institute differs by "of": `University of Washington` is not Washington University."""
    if _INSTITUTES.isdisjoint(folded):
        return False
    if "of" in folded:
        return "of" not in answer.word_set and len(answer.words) <= len(folded)
    return any(word in _INSTITUTES and following == "of" for word, following in pairwise(answer.texts))


def _claims_exactly(answer: AnswerText, wanted: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether the answer claims exactly the words wanted; a single one only where the question has the others."""
    there = answer.claimed_folds
    if len(there) != len(wanted) or sorted(there) != sorted(wanted):
        return False
    if len(wanted) > 1:
        return True
    return len(whole) > 1 and (wanted[0].isdecimal() or len(wanted[0]) >= DELICATE)


def _closest_runs(answer: AnswerText, wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The words [start, end) from each wanted word to the first point that completes them, with few others between."""
    places = [index for index, word in enumerate(answer.loose_folds) if word in wanted]
    longest = len(wanted) + (MOST_WORDS_BETWEEN if len(wanted) > 2 else 2)  # fewer between two
    for first, start in enumerate(places):
        need = set(wanted)
        for place in islice(places, first, None):
            if place - start >= longest:
                break
            need.discard(answer.loose_folds[place])
            if not need:
                yield start, place + 1
                break


def _is_one_name(answer: AnswerText, wanted: Sequence[str], start: int, end: int) -> bool:
    """Whether the words between the wanted ones leave them one name: no number, no denial, no end of a sentence."""
    more = [w for w, f in zip(answer.texts[start:end], answer.loose_folds[start:end], strict=True) if f not in wanted]
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
def _container_of(name: str) -> tuple[str, ...]:
    """The folded place of a phrase as `a city in Gabon`; () where a name is no such phrase."""
    phrase = _CONTAINED.fullmatch(name)
    return key(phrase["place"]) if phrase else ()


def _without_kind(name: str, answer: AnswerText) -> tuple[str, ...] | None:
    """The further folds of a proper name without the word for its kind: Ottoman for Ottoman Empire; None for places."""
    folded, loose_folds = key(name), loose_key(name)
    several = len(folded) > 2 and folded[-1] in _INSTITUTES  # Boise State, Florida Atlantic
    if "of" in folded or name.startswith(("a ", "an ", "A ", "An ")):
        return None
    if folded[-1] in word_lists.PLACE_CLASSES and not several:
        return None
    loose_left, left = (
        (loose_folds[:-1], folded[:-1]) if folded[-1] in word_lists.CLASSES else (loose_folds[1:], folded[1:])
    )
    if not left or left in answer.keys_of_names or (is_adjective(left) and folded[-1] not in _KINDS_NAMED_BY_ADJECTIVE):
        return None
    if folded[-1] not in word_lists.CLASSES and folded[0] not in ("mount", "river"):
        return None
    # what is left names another place
    if is_known_place(left) or is_known_place(key(" ".join(left))) or len("".join(left)) <= DELICATE:
        return None
    return loose_left


_INSTITUTES = frozenset({"university", "college", "school", "institute", "hospital", "building", "center", "centre"})
# kinds that an adjective alone identifies: "Ottoman", "French"
_KINDS_NAMED_BY_ADJECTIVE = frozenset({"empire", "language", "languages", "dynasty"})
MOST_WORDS_REORDERED = 40  # words of a name at most that is matched in any order
MOST_WORDS_BETWEEN = 3  # other words allowed between the words of a name


@MATCHING.memoize(1 << 16)
def informative_folds(name: str) -> tuple[str, ...]:
    """The further folds of the informative words of a name, in order."""
    folds = zip(key(name), loose_key(name), strict=True)  # the numeral of Elizabeth I is no function word
    return tuple(folded for word, folded in folds if word not in word_lists.FUNCTION or folded.isdigit())


@MATCHING.memoize(1 << 13)
def phrase_stems(name: str) -> frozenset[str]:
    """The stems of a phrase's informative words; empty for names, kinds (`an American composer`) and single words."""
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
    wanted = phrase_stems(tier[1])
    if not wanted or answer.names_places or not answer.stem_set.issuperset(wanted):
        return
    left = wanted - {stem(word) for word in answer.loose_question_words}
    if not left or (answer.has_negation and word_lists.NEGATIONS.isdisjoint(tier[2])):
        return
    if len(left) == 1 and (len(next(iter(left))) < _LETTERS_OF_LAST_WORD or len(answer.claimed_folds) > _CLAIMED_WORDS):
        return
    if (run := _first_run(answer, left)) is not None:
        yield Mention(tier[0], tier[1], *run)


def _first_run(answer: AnswerText, stems: frozenset[str]) -> tuple[int, int] | None:
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

LEAST_SHARE = 0.45  # sufficient proportion of the weight of a gold answer; 0.40 to 0.50 agree with people alike
SHORT_ANSWER_WORDS = 4  # words up to which an answer with another word in place of a gold one is wrong
NUMBER_WEIGHT = 1.5  # weight of a number; any other word weighs 1
NEGATED_ANSWER_WORDS = 12  # words of an answer up to which a negation applies to all of it


def mention_by_coverage(answer: AnswerText) -> Mention | None:
    """The first gold answer of which the answer has LEAST_SHARE of the words, by weight, and every number."""
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
    alone = answer.asks_place and len(key(name)) == 1 and name[:1].isupper()
    if alone and answer.loose_set.isdisjoint(loose_key(name)):
        return False  # Dominica and the Dominican Republic have a root in common
    if len(key(name)) > 1 and is_known_place(key(name)):
        return False  # Mexico is no part of New Mexico
    word_of, answer_roots = {root(word): word for word in informative_folds(name)}, answer.root_set
    for form, word in word_of.items():  # a number, a month, a letter or a mark distinguishes answers
        if form not in answer_roots and (
            word[0].isdigit() or len(word) == 1 or word in word_lists.MONTHS or word in MARKS
        ):
            return False
    asked = {root(word) for word in answer.loose_question_words}
    weights = {form: NUMBER_WEIGHT if word[0].isdigit() else 1 for form, word in word_of.items() if form not in asked}
    stated = [form for form in weights if form in answer_roots]
    if not stated:
        return False
    if answer.has_negation and len(answer.words) <= NEGATED_ANSWER_WORDS and word_lists.NEGATIONS.isdisjoint(key(name)):
        return False
    if names_a_sibling(answer, name):
        return False
    if len(stated) < len(weights) and not _may_be_partial(answer, name, word_of, stated):
        return False
    if len(answer.words) <= SHORT_ANSWER_WORDS and is_another_person(answer, level, 0, len(answer.words)):
        return False
    if len(answer.words) <= SHORT_ANSWER_WORDS and not answer.word_set & MARKS <= set(key(name)):
        return False  # Disney+ is another than Disney
    if answer.has_another_mark(Mention(level, name, 0, len(answer.words))):
        return False
    return sum(map(weights.__getitem__, stated)) >= LEAST_SHARE * sum(weights.values())


def _may_be_partial(answer: AnswerText, name: str, word_of: Mapping[str, str], stated: Sequence[str]) -> bool:
    """Whether an answer with only some of the words may mean the name: no other words, and the distinctive ones.

    `word_of`: the words of the name by their roots; `stated`: the roots that the answer has and the question has not.
    """
    if is_another_institute(answer, key(name)):
        return False
    is_short = len(answer.words) <= SHORT_ANSWER_WORDS
    if is_short and any(root(word) not in word_of for word in answer.claimed_folds):
        return False
    if (is_short or is_proper_name(name)) and all(word_of[form] in word_lists.CLASSES for form in stated):
        return False  # "a language" for French language, "the Cup" for FA Cup
    person = whole_person(name)
    return person is None or (root(person.family) in answer.root_set and len(stated) > 1)


def phrase_tiers(answer: AnswerText) -> Sequence[Tier]:
    """The phrases of which the answer has all words in some form."""
    stems = answer.stem_set
    return [
        tier
        for tier, folds in answer.loose_tiers
        if len(folds) > 1
        and (stem(folds[-1]) in stems or tier[2][-1] in word_lists.FUNCTION)  # most fail here
        and all(stem(fold) in stems or w in word_lists.FUNCTION for w, fold in zip(tier[2], folds, strict=True))
    ]
