"""Finer claims that no level bears out, and containers that are not the ladder's: Lyon, France for Paris."""

from __future__ import annotations

from granola.matching.naming.countries import ABBREVIATIONS, contradict, country_ids, division
from granola.matching.naming.mentions import SENTENCE_END, AnswerText, Mention
from granola.matching.naming.name_forms import place_parts
from granola.matching.text import word_lists


def follows_a_finer_claim(answer: AnswerText, mention: Mention) -> bool:
    """`Lyon, France` or `Kurt Masur, a German conductor`: a tier behind a finer claim that no tier states.

    A claim finer than level 1 cannot be told wrong and takes nothing back.
    """
    return mention.level > 0 and (
        _in_chain(answer, mention) or _behind_a_name(answer, mention) or _before_a_specific(answer, mention)
    )


def _in_chain(answer: AnswerText, mention: Mention) -> bool:
    """Short parts between commas, read from the finest: an unknown first part before a known one."""
    return answer.unknown_first is not None and mention.start >= answer.unknown_first


def _behind_a_name(answer: AnswerText, mention: Mention) -> bool:
    """A capitalised name before the mention, with nothing but a copula, a preposition or a comma between."""
    if not answer.cased:
        return False
    qids = country_ids(answer.texts[mention.start : mention.end])
    if qids and any(country_ids(answer.texts[max(0, mention.start - n) : mention.end]) & qids for n in (2, 3)):
        return False  # Federal Republic of Germany
    joint = _bridge_before(answer, mention)
    if joint is None:
        return False
    bridge, parted = joint
    if parted and _is_an_alternative(answer, bridge):
        return False
    larger = next((m for m in answer.mentions_by_end.get(bridge, ()) if m.level < mention.level), None)
    if larger is not None:  # Lyon, Rhône, France: what takes back the part before takes back this one
        return follows_a_finer_claim(answer, larger)
    return _is_behind_a_claim(answer, bridge, parted=parted)


def _bridge_before(answer: AnswerText, mention: Mention) -> tuple[int, bool] | None:
    """Where the words begin that join a mention to what stands before it, and whether a comma or bracket is there.

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


def _is_behind_a_claim(answer: AnswerText, bridge: int, *, parted: bool) -> bool:
    """Whether a name that claims something ends before word `bridge`; behind a comma also one with its kind."""
    end = bridge
    while parted and 0 < end > bridge - 3 and not answer.words[end - 1].capital:
        if answer.words[end - 1].text in word_lists.FUNCTION or answer.words[end - 1].gap:
            break
        end -= 1  # Norwood Junction railway station, England
    if not parted and "-" in answer.words[end].gap:
        return False  # German-born, Paris-based: what a noun is told by, no name
    start = answer.name_before(end)
    while end - start > 1 and answer.words[end - 1].text in word_lists.CLASSES:
        end -= 1  # Cambridge University, where a university is a tier
    if start == end or answer.words[end - 1].text in word_lists.CONTINENTS | word_lists.PARTS:
        return False  # somewhere in Asia; on the East Coast
    return answer.is_claim(start, end)


def _is_an_alternative(answer: AnswerText, end: int) -> bool:
    """Whether what ends before word `end` is the other of two of which a finer tier is one: Paris or Lyon, France."""
    start = answer.name_before(end)
    return start > 1 and answer.texts[start - 1] == "or" and answer.is_mentioned(start - 2, start - 1)


def _before_a_specific(answer: AnswerText, mention: Mention) -> bool:
    """`France, specifically Lyon`."""
    index = mention.end
    marked = False
    while index < len(answer.words) and not answer.words[index].capital:
        word = answer.words[index].text
        marked = marked or word in word_lists.SPECIFICALLY
        if word not in word_lists.BRIDGE and word not in word_lists.SPECIFICALLY and word != "more":
            return False
        index += 1
    return marked and index < len(answer.words) and answer.is_claim(index, index + 1)


def is_in_another_division(answer: AnswerText, mention: Mention) -> bool:
    """Whether a state or province said behind a place is another than its own.

    `Springfield, Ohio, United States` where a coarser tier is Illinois: no tier behind it vouches for that.
    """
    containers = [folded for level, _, folded in answer.tiers if level > mention.level]
    named_containers = [
        part for level, name, _ in answer.tiers if level == mention.level for part in place_parts(name)[1]
    ]
    containers += named_containers
    for index in range(mention.end, min(len(answer.words), mention.end + _CHAIN)):
        if set(answer.words[index].gap) & SENTENCE_END:
            return False
        stated = _division_at(answer, index)
        if stated is not None:
            if stated in containers:
                return False
            if any(contradict(stated, other) for other in containers):
                return True
        if not _is_in_a_chain(answer, index):
            return False
    return False


def _division_at(answer: AnswerText, index: int) -> tuple[str, ...] | None:
    """The state or province that stands from word `index` on, in full or behind a comma in short; None for none."""
    word = answer.words[index]
    if answer.cased and not word.capital:
        return None
    full_name = division(answer.texts[index : index + 3])
    if full_name is None and word.gap:
        return ABBREVIATIONS.get(answer.quote(index, index + 1))
    return full_name


def _is_in_a_chain(answer: AnswerText, index: int) -> bool:
    """Whether a word may stand in a chain of places: of a name, a kind of place, or what joins them."""
    word = answer.words[index]
    if (word.capital or not answer.cased) and word.text not in word_lists.FUNCTION:
        return True
    return word.text in word_lists.BRIDGE or word.text in word_lists.CLASSES


def is_before_another_name(answer: AnswerText, mention: Mention) -> bool:
    """`an Austrian composer, Joseph Haydn`: a description, and then the name of one who is no tier."""
    if mention.level == 0 or not answer.cased or answer.words[mention.end - 1].capital:
        return False
    start = mention.end
    while start < len(answer.words) and start < mention.end + 2 and answer.words[start].text in word_lists.NAMED:
        start += 1
    if start >= len(answer.words) or answer.words[start].gap not in ("", ",", ":", "(", "-", "–", "—"):
        return False
    end = _run(answer, start)
    return _ends(answer, end) and _is_other(answer, start, end)


def _run(answer: AnswerText, start: int) -> int:
    """Where the name that begins at word `start` ends: capitalised words without a break, or `start` for none."""
    end = start
    while end < len(answer.words) and end - start < _RUN and not (end > start and answer.words[end].gap.strip("'-.")):
        word = answer.words[end]
        if not (word.capital or not answer.cased) or not word.text[0].isalpha() or word.text in word_lists.FUNCTION:
            break
        if not answer.cased and word.text in _GOES_ON:
            break
        end += 1
    return end


def _ends(answer: AnswerText, index: int) -> bool:
    """Whether a phrase may end before word `index`: at the text's end, at punctuation, before a function word."""
    return (
        index >= len(answer.words) or bool(answer.words[index].gap) or answer.words[index].text in word_lists.FUNCTION
    )


def _is_other(answer: AnswerText, start: int, end: int) -> bool:
    """Whether [start, end) names something that is no tier, no date and no nationality."""
    if start >= end or not answer.is_claim(start, end):
        return False
    texts = [word.text for word in answer.words[start:end]]
    return word_lists.MONTHS.isdisjoint(texts) and not texts[-1].endswith(word_lists.DEMONYM_ENDINGS)


_GOES_ON = word_lists.CLAUSE_WORDS | {phrase[0] for phrase in word_lists.NEARBY}


_CHAIN = 8  # words behind a place that are searched for its state
_RUN = 4  # capitalised words in a row, more are a headline


def is_only_nearby(answer: AnswerText, mention: Mention) -> bool:
    """`near Paris`, `north of Paris`: beside a place is not in it; `the north of France` is."""
    before = [word.text for word in answer.words[max(0, mention.start - 2) : mention.start]]
    if len(before) == 2 and before[0] in word_lists.POINTS and before[1] == "of":
        at = mention.start - 2
        at -= at > 0 and answer.words[at - 1].text in word_lists.POINTS  # south-east
        if answer.has_article(at) and not (at > 0 and answer.words[at - 1].text == "to"):
            return False
    return any(tuple(before[-len(phrase) :]) == phrase for phrase in word_lists.NEARBY)
