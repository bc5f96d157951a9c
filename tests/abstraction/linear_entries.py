"""Where texts from outside enter the making and checking of ladders: functions of one text, by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

from abstraction.assembly import filters
from abstraction.classes import class_of_description
from abstraction.datasets.dataset_cleaning import Cleaner
from abstraction.descriptions.organisation_grammar import parse_organisation
from abstraction.descriptions.person_grammar import parse_person
from abstraction.descriptions.place_grammar import parse_chain, parse_place, variants
from abstraction.descriptions.trimming import spell_countries
from abstraction.descriptions.work_grammar import parse_work
from abstraction.files.records import parse_records
from abstraction.language.amount_reader import parse_quantity
from abstraction.language.date_reader import parse_date
from abstraction.language.languages import is_known, language, languages, reading_language
from abstraction.language.phrases import article, definite, is_opaque, takes_back
from abstraction.language.units import unit_of_sign, unit_of_spelling
from abstraction.models.prompts import harmless
from abstraction.phrasing import forms
from abstraction.phrasing.checking import LadderCheck
from abstraction.phrasing.wordings import WordingCheck
from abstraction.pipeline import LadderMaker
from abstraction.questions.question_patterns import question_patterns
from abstraction.questions.relation_wording import read_wording, subject_of
from abstraction.rows import TieredRow, question_rows
from abstraction.tiers import Evidence, Level, Tier
from abstraction.verifying import comparable_words
from abstraction.verifying.entailment import EntailmentChecker
from abstraction.verifying.literal_ranges import range_of_words, span_of_words
from abstraction.verifying.step_replay import rule_holds
from abstraction.verifying.tier_verdicts import naming
from kg.model import Entity
from kg.terms import best_text, fallback_chain, names, normalise
from tests.abstraction.scripted_model import PERSON, PLACE, WORLD, block
from tests.worlds import entity, maker, row, store_of

Entry = Callable[[str], object]
STORE = store_of(*WORLD)
MAKER = LadderMaker(STORE)
VOCABULARY = MAKER.vocabulary
MADE = {"place": MAKER.make(PLACE), "person": MAKER.make(PERSON)}
RELATIONS = ("P131", "P19", "P36", "P569", "P2046", "P26", "P800", None)


def entries() -> dict[str, Entry]:
    """Every entry by its name."""
    return dict([*_readers(), *_of_languages(), *_words(), *_rows(), *_checks()])


def _refusing(do: Callable[[], object]) -> None:
    """Errors that say what is wrong with a text are answers as good as others."""
    with suppress(ValueError, LookupError):
        do()


def _readers() -> Iterator[tuple[str, Entry]]:
    def read(data: bytes) -> None:
        _refusing(lambda: list(question_rows(parse_records(data, "x", most=1 << 20))))

    def records(text: str) -> None:
        for fields in (
            {"question": text, "answer": text, "relation": text},
            {"question": text, "answer": [text], "question_entity": text, "answer_qid": text},
            {"question": text, "answer": "x", "question_entity": {"qid": text, "text": text}},
            {"id": text, "question": text, "answer": text, "question_entity": "{" + text},
        ):
            read(json.dumps(fields).encode())

    yield "fields of a row", records
    for lead in ("", "[", '{"question": "', '{"a": ['):
        yield f"rows that begin {lead!r}", lambda text, lead=lead: read((lead + text).encode())  # type: ignore[misc]
    yield "prompt", lambda text: (harmless(text), harmless(f"[inst {text}]"))


def _of_languages() -> Iterator[tuple[str, Entry]]:
    for code in (*languages(), "fa", "ja", "lt"):  # three that CLDR alone knows
        known = language(code)
        yield f"date {code}", lambda text, code=code: parse_date(text, code=code)  # type: ignore[misc]
        yield f"quantity {code}", lambda text, code=code: parse_quantity(text, code=code)  # type: ignore[misc]
        yield (
            f"unit {code}",
            lambda text, code=code: (unit_of_spelling(text, code=code), unit_of_sign(text, code=code)),  # type: ignore[misc]
        )
        yield (
            f"names {code}",
            lambda text, known=known: (  # type: ignore[misc]
                known.with_bare_names(text), known.with_english_around(text), known.finished(text),
                known.one_of(f"langues {text}"), known.one_of(f"lenguas {text}"), known.one_of(f"{text} Sprachen"),
            ),
        )  # fmt: skip


def _words() -> Iterator[tuple[str, Entry]]:
    def codes(text: str) -> None:
        for of in (language, reading_language, is_known, fallback_chain):
            _refusing(lambda of=of: of(text))  # type: ignore[misc]
        best_text({text: text}, text)
        names({text: text}, {text: (text, f"{text}x")}, text)

    yield "language codes", codes
    yield "name", normalise
    yield "question", lambda t: (read_wording(t), subject_of(f"Where is {t}?", "P131"), question_patterns().relation(t))
    yield "asked", lambda t: (read_wording(f"Who wrote {t}?"), question_patterns().relation(f"Who is {t}?"))
    yield "place", lambda t: (parse_place(t), parse_place(f"city in {t}"), parse_chain(t), variants(t))
    yield "countries", spell_countries
    yield "person", lambda t: (parse_person(t, VOCABULARY), parse_person(f"French {t} writer", VOCABULARY))
    yield "firm", lambda t: (parse_organisation(t, VOCABULARY), parse_organisation(f"company of {t}", VOCABULARY))
    yield "work", lambda t: (parse_work(t, VOCABULARY), parse_work(f"film by {t}", VOCABULARY))
    yield "class", lambda t: (class_of_description(t), class_of_description(f"a {t}"))
    yield (
        "phrase",
        lambda t: (
            article(t), definite(t), definite(t, of="work"), is_opaque(f"{t} x", "x"), takes_back(f"{t} x", "x"),
        ),
    )  # fmt: skip
    yield (
        "filters",
        lambda t: (
            filters.names_the_answer(t, [f"{t}x", t[: len(t) // 2], "x"], person=True),
            filters.leaks_name(t, t[: len(t) // 2]), filters.leaks_question(t, t), filters.gives_away(t, t, [t]),
        ),
    )  # fmt: skip
    yield (
        "words of evidence",
        lambda t: (
            comparable_words.content(t), comparable_words.proper_names(t), comparable_words.says_outside(t, len(t)),
            comparable_words.taken_back_by(t, len(t)), comparable_words.stands_in(t[: len(t) // 2].split(), t.split()),
        ),
    )  # fmt: skip
    yield "amount", lambda t: [range_of_words(f"{lead}{t}") for lead in ("", "between ", "about ", "between 1 and ")]
    yield "days", lambda t: (span_of_words(t), span_of_words(f"c. {t}"))
    yield "rule", lambda t: (rule_holds(MAKER.graph, t), rule_holds(MAKER.graph, f"a {t} is a {t}"))
    yield "naming", lambda t: naming(t, [f"{t}x", f"Edwina {t}", "Lee"], person=True)


def _rows() -> Iterator[tuple[str, Entry]]:
    for asked in RELATIONS:
        for name, build in {
            "question": lambda t, asked=asked: row("Springfield", asked, question=t),  # type: ignore[misc]
            "subject": lambda t, asked=asked: row("Springfield", asked, question=f"Where is {t}?", subject=t),  # type: ignore[misc]
            "answer": lambda t, asked=asked: row(t, asked, question="Where is it?"),  # type: ignore[misc]
            "description": lambda t, asked=asked: row(  # type: ignore[misc]
                "Springfield", asked, qid="Q491", extra={"answer_entity_description": f"city in {t}"}
            ),
        }.items():
            yield f"{name} of {asked}", lambda t, build=build: MAKER.make(build(t))  # type: ignore[misc]


def _checks() -> Iterator[tuple[str, Entry]]:
    for name, made in MADE.items():
        yield f"entailment of a {name}", lambda t, made=made: EntailmentChecker(STORE).check(_with(made, t))  # type: ignore[misc]
        yield (
            f"lines for a {name}",
            lambda t, made=made: LadderCheck(STORE).check(made, [t, f"a {t}", f"British {t}"], call="c"),  # type: ignore[misc]
        )
        count = sum(len(level.tiers) for level in made.levels[1:])
        yield (
            f"wordings for a {name}",
            lambda t, made=made, count=count: WordingCheck(STORE).check(made, [t] * count, call="c"),  # type: ignore[misc]
        )
        yield (
            f"cleaning of a {name}",
            lambda t, made=made: Cleaner(trivial=[t]).clean(replace(made, question=t, answers=(t,))),  # type: ignore[misc]
        )

    def replies(text: str) -> None:
        for reply in (text, block(text), f"<answers>\n- {text}", f"<think>{text}"):
            _refusing(lambda reply=reply: forms.read_ladder(reply))  # type: ignore[misc]
            _refusing(lambda reply=reply: forms.read_wording(reply, 3))  # type: ignore[misc]
            _refusing(lambda reply=reply: forms.read_vote(reply))  # type: ignore[misc]

    yield "replies", replies


def _with(made: TieredRow, text: str) -> TieredRow:
    said = Evidence(kind="rule", subject="Q77", text=text, labels={})
    beside = Level(tiers=(Tier(text=text, evidence=(said,)),))
    return replace(made, levels=(made.levels[0], beside, *made.levels[1:]))


# Entities whose label, alias or description is the text, with what asks for them.
ASKED = (
    ("Q491", "P19"), ("Q771", "P131"), ("Q142", "P17"), ("Q77", "P26"), ("Q78", "P40"), ("Q95", "P800"),
    ("Q94", "P407"), ("Q96", "P136"), ("Q92", "P176"), ("Q89", "P166"), ("Q87", "P674"), ("Q85", "P69"),
    ("Q82", "P413"), ("Q483501", "P106"), ("Q92", None),
)  # fmt: skip


def world(text: str) -> tuple[Entity, ...]:
    """A world whose entities carry the text in labels, aliases and descriptions."""

    def called(qid: str) -> str:
        return f"{text} {qid}"

    return (
        entity("Q142", called("F"), P31="Q3624078", P1549=[text]),
        entity("Q771", called("M"), f"state of {text}", P31="Q35657", P131="Q142", P17="Q142"),
        entity("Q483501", called("a"), f"{text} who", P279="Q28640", P31="Q28640"),
        entity("Q1281618", called("s"), P279="Q483501", P31="Q28640"),
        entity("Q77", "Edwina Lee", "sculptor", aliases=[text], P31="Q5", P27="Q142", P106=["Q1281618"], P19="Q491"),
        entity("Q78", "Tom Lee", f"{text} sculptor", P31="Q5", P27="Q142", P106=["Q1281618"], P22="Q77"),
        entity("Q491", "Springfield", f"city in {text}", P31=["Q515", "Q99"], P131="Q771", P17="Q142"),
        entity("Q99", called("c"), P279="Q515"),
        entity("Q97", called("r"), f"form of {text}", P31="Q188451"),
        entity("Q96", "blues", text, P31="Q188451", P279="Q97"),
        entity("Q95", "Film X", f"film by {text}", P31=["Q11424", "Q98"], P57="Q78", P136="Q97", P495="Q142"),
        entity("Q98", called("f"), P279="Q11424"),
        entity("Q94", "Ab", f"language of the {text}", P31="Q34770", P279="Q93"),
        entity("Q93", called("l"), P31="Q25295", P279="Q25295"),
        entity("Q92", "Firm", f"company of {text}", P31=["Q4830453", "Q91"], P159="Q491", P749="Q90", P17="Q142"),
        entity("Q91", called("k"), P279="Q4830453"),
        entity("Q90", called("o"), P31="Q4830453"),
        entity("Q89", "Prize", f"award for {text}", P31=["Q618779", "Q88"], P1027="Q90", P17="Q142"),
        entity("Q88", called("p"), P279="Q618779"),
        entity("Q87", "Hero", f"character in {text}", P31=["Q95074", "Q86"], P1441="Q95", P27="Q142"),
        entity("Q86", called("h"), P279="Q95074"),
        entity("Q85", "School", text, P31=["Q3918", "Q84"], P131="Q491", P17="Q142"),
        entity("Q84", called("u"), P279="Q3918"),
        entity("Q82", "player", f"position in {text}", P31="Q1781513", P279="Q81", P641="Q80"),
        entity("Q81", called("q"), P31="Q1781513"),
        entity("Q80", called("t")),
    )


def of_world(text: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """What is done with such a world, by name."""
    made: list[LadderMaker] = []
    yield "reading the snapshot", lambda: made.append(maker(*world(text)))
    for qid, asked in ASKED:
        question = row("Name", asked, qid=qid, question="Which thing is it?", subject="Somebody")
        yield f"{qid} of {asked}", lambda question=question: made[0].make(question)  # type: ignore[misc]
        yield f"check of {qid}", lambda question=question: _checked(made[0], made[0].make(question))  # type: ignore[misc]


def _checked(by: LadderMaker, done: TieredRow) -> None:
    EntailmentChecker(by.graph.store).check(done)
    lines = ["a sculptor", *(tier.text for level in done.levels[1:] for tier in level.tiers)]
    LadderCheck(by.graph.store).check(done, lines, call="c")
