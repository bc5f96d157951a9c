"""Answers that decline to answer, recognised by named patterns.

An abstention is neither right nor wrong. A refusal that goes on to answer ("I'm not sure, but I think it
was Paris") is no abstention: what it offers is judged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from abstraction.language.languages import language
from granola.matching.text.match_cache import MATCHING
from granola.matching.text.repair import spaced
from granola.matching.text.tokens import plain


@dataclass(frozen=True, slots=True)
class Refusal:
    """A declined answer: the pattern's name, what the text offers all the same, and whether that is a guess.

    A guess is judged like any answer; other text around a refusal counts only where it states a tier. A report on
    sources may tell what these suggest instead of what was asked: then it is no abstention, and no answer either.
    """

    rule: str
    offer: str
    guess: bool

    @property
    def tells_another(self) -> bool:
        """Whether a report on sources goes on to what they suggest."""
        return self.rule in REPORTS and _INSTEAD.search(self.offer) is not None


_I = r"(?:i|we)"
_AM = r"(?:i am|i'?m|we are|we'?re)"
_NOT = r"(?:do not|don'?t|did not|didn'?t|does not|doesn'?t)"
_CANNOT = r"(?:can ?not|can'?t|could not|couldn'?t|(?:am|was|were|are) (?:unable|not able) to)"
_SO = r"(?:(?:honestly|really|just|actually|simply|currently|personally|quite|entirely|completely|exactly) ){0,4}"
_NEWS = r"(?:information|info|data|details?|knowledge|records?|evidence|answers?|context|sources?)"
_IT = r"(?:it|this|that|the answer|(?:the|his|her|its|their) [\w ]{1,60})"
_WHEN = (
    r"(?:\(|to|at|because|whether|if|as|in|since|due|from|for|but|by|on|when|where|who|what|which|why|how"
    r"|and|exactly)"
)

# How a sentence begins that declines, by the name of the rule.
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (f"abstain:{name}", re.compile("(?:" + "|".join(alternatives) + ")"))
    for name, alternatives in (
        (
            "idk",
            (
                r"(?:idk|dunno)\b",
                rf"{_I} {_SO}{_NOT} {_SO}(?:know|recall|remember)\b",
                rf"{_NOT} know\b",
                r"(?:no ?one|nobody) knows\b",
            ),
        ),
        ("no-idea", (rf"(?:(?:{_I} )?(?:have|'ve) )?(?:absolutely )?(?:no (?:idea|clue)|not a clue)\b",)),
        (
            "not-sure",
            (
                rf"(?:{_AM} )?{_SO}not {_SO}(?:sure|certain|aware|familiar)\b",
                rf"(?:{_AM} )?{_SO}(?:unsure|uncertain|unaware|unfamiliar)\b",
            ),
        ),
        (
            "cannot-answer",
            (
                rf"(?:{_I} )?{_SO}{_CANNOT}\b",
                rf"(?:it|this|that|which|(?:the|this|your) (?:question|answer|information)) {_CANNOT} be\b",
                rf"(?:{_AM} )?{_SO}(?:unable|not able) to\b",
                r"(?:it(?:'s| is)|that(?:'s| is)) (?:impossible|not possible|hard|difficult) to (?:say|tell|know|answer"
                r"|determine)\b",
                rf"(?:that|this|it)(?:'s| is) (?:a|the) question (?:that |which )?{_I} {_CANNOT} answer\b",
                r"(?:that|this|it)(?:'s| is) (?:beyond|outside) my knowledge\b",
                rf"{_I} {_SO}(?:have not|haven'?t) been able to\b",
            ),
        ),
        (
            "no-information",
            (
                rf"{_I} (?:{_SO}{_NOT} {_SO}(?:have|possess|find)|{_SO}have no|lack)\b"
                rf"(?=.{{0,400}}\b(?:{_NEWS}|access|way)\b)",
                r"(?:there (?:is|are|was|were|seems to be|appears to be) )?"
                rf"(?:no|not enough|insufficient)\b[\w ]{{0,200}}\b{_NEWS}\b",
                rf"there (?:isn'?t|aren'?t) (?:any|enough|sufficient)\b[\w ]{{0,200}}\b{_NEWS}\b",
            ),
        ),
        (
            "not-stated",
            (
                rf"(?:it )?{_NOT} (?:say|state|mention|specify)$",
                r"not (?:mentioned|stated|specified|given|provided|found|listed)$",
                rf"(?:the )?(?:\w{{1,40}} )?(?:question|text|passage|document|article|{_NEWS})"
                r"(?: provided| given)? "
                rf"(?:{_NOT} (?:state|say|mention|specify|provide|contain|indicate|give)"
                r"|(?:is|was|are) not(?= (?:\w{1,20} ){0,2}(?:available|provided|given|stated|clear|known|enough"
                r"|sufficient|found|mentioned|specified|included|contained|present|there|in|recorded|documented|listed|public)\b"
                r"|$))\b",
            ),
        ),
        (
            "unknown",
            (
                rf"(?:{_IT}(?: is| was| remains|'s) )?(?:currently |still |largely )?"
                r"(?:unknown|undetermined|unanswerable|unspecified|unclear|not (?:publicly |widely |yet )?"
                rf"(?:known|available|specified|stated|clear|documented|recorded))(?=$|[,;:.(]| {_WHEN}\b)",
            ),
        ),
        ("no-answer", (r"(?:n/a|n\.?a|none|null|nil|no answer|no response|not applicable|pass|skip)$",)),
        (
            "refusal",
            (
                rf"(?:{_I} )?(?:must |will |have to )?(?:decline|refuse|abstain)\b",
                rf"(?:{_I} )?(?:would |'d |will |'ll )?need (?:more|additional|further) (?:\w{{1,40}} )?{_NEWS}\b",
                r"(?:(?:could|can|would) you )?(?:please )?(?:provide|clarify|specify) ",
                r"as an (?:ai|artificial intelligence)\b",
                rf"(?:{_I} ?)?(?:would |'d )?(?:rather not|prefer not to) (?:say|answer|tell|guess)\b",
                rf"{_I} (?:will not|won'?t) (?:answer|say|tell|guess)\b",
            ),
        ),
    )
)
_ANY = re.compile("|".join(pattern.pattern for _, pattern in _PATTERNS))
# A sentence that says of its sources that they do not tell, wherever in it: what retrieval systems write.
_TELLING = (  # verbs that say that something is told, and those that say so of information alone
    r"(?:(?:mention|state|specif|indicate|reveal|disclose|identif|document|record|address|describe|name|confirm|clarif"
    r"|answer|directly|explicitly|available|known|clear)"
    r"|(?:provide|contain|include|give|list|offer|detail|have|find|found|support)\b"
    rf"(?: [\w'’-]+){{0,4}} (?:{_NEWS}|mention|references?|figures?|numbers?|names?|dates?|answers?"
    r"|text|breakdown|premise|query|question)\b)"
)
_SOURCES = (
    r"(?:(?:search )?(?:results?|sources?|data|information|texts?|passages?|documents?|contexts?|articles?|materials?"
    r"|records?|references?|excerpts?|content|snippets?|evidence|details?))"
)
_HOW = (
    r"(?:(?:explicitly|directly|specifically|clearly|definitively|precisely|accurately|actually|readily|fully|itself"
    r"|themselves) ){0,2}"
)
_NOT_TOLD = re.compile(
    # the sources do not tell it
    rf"\b{_SOURCES}\b(?: [\w'’-]+){{0,6}} (?:{_NOT}|cannot|lacks?|fails? to) {_HOW}{_TELLING}"
    # it is not told in the sources
    rf"|\b(?:is|are|was|were|been) (?:not|never) {_HOW}(?:mentioned|stated|specified|provided|contained|included"
    rf"|indicated|given|listed|found|disclosed|documented|available|identified|named|described|clear|detailed|reported|recorded)\b(?=.{{0,60}}\b{_SOURCES}\b|[.]?\Z)"
    # there is nothing in the sources
    rf"|\b(?:there (?:is|are|was|were)|i (?:could|can) find|have|has|with) (?:no|not any|insufficient|not enough) "
    rf"(?:[\w-]+ ){{0,4}}(?:mention|{_NEWS}|indication|reference|way to (?:know|tell|say))\b"
    # so it cannot be said
    r"|\b(?:is not|isn'?t) something (?:that )?(?:i|we)(?:'m| am|'re| are)? (?:able to|can) "
    r"(?:recall|say|tell|answer|name)"
    rf"|\b(?:{_I} |it is |it's |be )(?:{_CANNOT}|(?:not possible|impossible|unable|not able) to) {_HOW}"
    r"(?:provide|determine|answer|state|say|tell|identify|confirm|verify|give|specify|name|know)"
)
REPORTS = frozenset({"abstain:not-in-sources", "abstain:not-stated"})
"""Refusals that tell of the sources: names behind them are those of the sources, no answers, but for a guess."""
# Of 6 091 long answers to SimpleQA, 100 that were graded as attempts go on so behind a report, and 74 that were not.
_INSTEAD = re.compile(r"\b(?:indicat|suggest|appear|however\b|most relevant\b|closest\b)", re.IGNORECASE)
_HEDGES = REPORTS | {"abstain:idk", "abstain:no-idea", "abstain:not-sure"}  # behind an answer they only doubt it

_FILLER = re.compile(
    r"(?:(?:i am|i'm|we are)? ?(?:so |very |really |terribly )?sorry|(?:i |my )?apolog(?:ise|ize|ies)"
    r"|i am afraid|i'm afraid|unfortunately|regrettably|hmm+|well|honestly|to be honest|sadly|but|answer|a"
    r"|as of my (?:last|latest) [\w ]{1,60}"
    r"|as an (?:ai|artificial intelligence)(?: language)?(?: model| assistant)?)\b[\s,;:.!-]*+(?:but\b[\s,]*+)?"
)
# "Can't Help Falling in Love" was recorded by ...; Don't Know Why is sung by ...
_TITLE = re.compile(
    r"(?:[Tt]he )?(?:[Ss]ong |[Ff]ilm |[Mm]ovie )?[\"“][^\"”]{2,100}[\"”][ ,]*+[a-z(]"
    r"|[A-Z][a-z]{2,6}['’]t [A-Z][a-z]+ \w"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_GUESS = re.compile(
    r"(?:\bbut\b|\bhowever\b|\bthough\b|\bmaybe\b|\bperhaps\b|\bpossibly\b|\bprobably\b|\blikely\b"
    r"|\bi (?:would |'d )?(?:think|believe|guess|suppose|suspect|say)\b|\bmy (?:best )?guess\b"
    r"|\b(?:it|he|she|they|this|that) (?:might|may|could|must) (?:be|have been)\b)[\s,:]*"
)
# What follows "but" and is no answer: offers of help and advice.
_HELP = re.compile(
    r"(?:but |however )?[\s,]*(?:i (?:can|could|am happy|'m happy|would be happy|recommend|suggest|hope)"
    r"|you (?:can|could|may|might|should)|if you|feel free|let me|please|further"
    r"|more (?:information|research))\b"
)


SHORT = 12  # characters of a text that is read as one sentence, whatever its full stops


@MATCHING.remembered(1 << 14)
def refusal(text: str, code: str = "en") -> Refusal | None:
    """How `text` declines to answer, or None where it does not. An empty text declines.

    Beside English the language of `code` is read, where the package has its data.
    """
    MATCHING.count(len(text))
    if not any(character.isalnum() for character in text):
        return Refusal("abstain:empty", "", False)
    rule, guess = "", False
    whole = plain(text.strip())
    if len(whole) <= SHORT and (pattern := _begins_in(whole, code)) == "abstain:no-answer":
        return Refusal(pattern, "", False)  # "k. A." is one sentence
    offers: list[str] = []
    for sentence in filter(None, _SENTENCE.split(text.strip())):
        lower = plain(sentence)
        # Positions carry over only while folding keeps the length; else the folded text is offered.
        source = sentence if len(lower) == len(sentence) else lower
        name = _declining(sentence, lower, code)
        if name is None or (name in _HEDGES and offers):
            offers.append(source)
            continue
        rule = rule or name
        if (start := _guess_start(lower, code)) is not None:
            offers.append(source[start:])
            guess = True
    if not rule:
        return None
    rest = " ".join(part.strip() for part in offers).strip()
    return Refusal(rule, rest, guess or _is_guess(plain(rest), code))


def _declining(sentence: str, lower: str, code: str) -> str | None:
    """The rule by which a sentence declines, `lower` as it is folded; none for a title that begins alike."""
    if _TITLE.match(sentence):
        return None
    if rule := _begins(lower) or _begins_in(lower, code):
        return rule
    return "abstain:not-in-sources" if _says_nothing_told(lower) else None


def _says_nothing_told(sentence: str) -> bool:
    return any(word in sentence for word in (" no", "n't", "lack", "fail", "unable", "impossible", "insuff")) and (
        _NOT_TOLD.search(sentence) is not None
    )


def _guess_start(sentence: str, code: str) -> int | None:
    """Where a folded sentence that declines goes on to a guess; None where it does not, or offers help instead."""
    marker = _guess(sentence, max(1, _courtesies(sentence, code)), code)
    while marker and _FILLER.fullmatch(sentence[: marker.end()].strip()):
        marker = _guess(sentence, marker.end(), code)  # the "but" of "sorry, but"
    return marker.end() if marker and not _HELP.match(sentence, marker.start()) else None


def _guess(text: str, start: int, code: str) -> re.Match[str] | None:
    """The first words from `start` on that announce a guess, in English or in the language."""
    matches = [_GUESS.search(text, start)]
    matches.append(language(code).matching["guess"].search(text, start))
    return min((f for f in matches if f), key=lambda f: (f.start(), -f.end()), default=None)


def _is_guess(text: str, code: str) -> bool:
    announced = _GUESS.match(text) or language(code).matching["guess"].match(text)
    return announced is not None and not _HELP.match(text)


def _begins_in(sentence: str, code: str) -> str | None:
    """The rule by which a sentence declines in the language of `code`, where that is another than English."""
    if code == "en":
        return None
    patterns = language(code).matching
    reading = sentence[_courtesies(sentence, code) :]
    if not _any_in(language(code).code).match(reading):
        return None
    for name, pattern in patterns.items():
        if name.startswith("abstain:") and pattern.match(reading):
            return name
    return None


@cache
def _any_in(code: str) -> re.Pattern[str]:
    """All ways to decline of a language in one expression."""
    expressions = [p.pattern for name, p in language(code).matching.items() if name.startswith("abstain:")]
    return re.compile("|".join(f"(?:{pattern})" for pattern in expressions) or r"(?!)")


def _courtesies(sentence: str, code: str) -> int:
    """Where a folded sentence goes on behind the opening courtesies of the language of `code`."""
    opening = language(code).matching["opening"]
    start = len(sentence) - len(sentence.lstrip(" \"'([*-¿¡"))
    while (courtesy := opening.match(sentence, start)) and courtesy.end() > start:
        start = courtesy.end()
    return start


def _begins(sentence: str) -> str | None:
    """The rule by which a folded sentence declines, read as it is and without its opening courtesies."""
    start = 0
    while filler := _FILLER.match(sentence, start):
        start = filler.end()
    for reading in (sentence, sentence[start:]) if start else (sentence,):
        reading = reading.lstrip(" \"'([<*-").rstrip(" .!?\"')]>*")
        if not _ANY.match(reading):  # one expression for most answers, not nine
            continue
        for name, pattern in _PATTERNS:
            if pattern.match(reading):
                return name
    return None


def abstention(text: str, code: str = "en") -> str | None:
    """The name of the pattern by which `text` offers no answer at all, or None; `code` as in `refusal`."""
    declined = refusal(spaced(text), code)
    return declined.rule if declined is not None and not declined.guess else None
