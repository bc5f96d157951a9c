"""Figures of fiction, scripture and myth: by the work they appear in, then by their kind."""

from __future__ import annotations

import re

from abstraction.descriptions.person_grammar import parse_person
from abstraction.evidence import from_statement
from abstraction.ladders.office_phrases import add_kin, names_subject, repeats_answer
from abstraction.language.phrases import Lattice, definite, indefinite
from abstraction.proposals import LadderCase, Proposal
from abstraction.tiers import Condition, Evidence
from kg.terms import normalise

WORKS = 2  # taken from P1441
_KIND = (
    r"(?:(?:fictional|biblical|literary|mythological|mythical|legendary|comic(?:s| book)?|animated|television|film|"
    r"video game|cartoon|folklore|anime|manga)\s+)*"
    r"(?:character|superhero|superheroine|supervillain|figure|protagonist|antagonist|villain|detective|god|goddess|"
    r"deity|king|queen|hero|heroine|wizard|human|person)"
)
_DESCRIBED = re.compile(
    rf"^(?:the\s+|an?\s+)?(?P<kind>{_KIND})\b"
    r"(?:\s++(?P<link>in|from|of|on)\s++(?P<work>.+?))?"
    r"(?=$|[,;(]|(?<![A-Z])\.(?:\s|$)|(?<!\s)\s++(?:who|which|played|portrayed|created|appearing|and)\b)",
    re.I,
)
_SUPPORTED = re.compile(
    r"fictional|character|biblical|mythical|mytholog|legend|deity|god\b|goddess|superhero|supervillain", re.I
)
_RENAMED = {"fictional human": "fictional character", "human biblical figure": "biblical figure"}
_TELLING = (
    "biblical",
    "myth",
    "legend",
    "deity",
    "god",
    "literary",
    "theatrical",
    "comics",
    "video game",
    "anime",
    "animated",
    "television",
    "film",
)
_VAGUE = re.compile(r"set of|may be|topic|organism|in a work of fiction|characters")


def characters(case: LadderCase) -> list[Proposal]:
    """ "a character in the Hebrew Bible", then "a biblical figure"."""
    graph = case.graph
    lattice = Lattice()
    classes = [s for s in graph.current(case.answer, "P31") if s.target]
    graph.fetch(s.target for s in classes if s.target)
    kinds: list[str] = []
    stated: list[tuple[int, str, Evidence, str]] = []
    for statement in classes:
        label = graph.label(statement.target or "")
        if label is None or not _SUPPORTED.search(label) or _VAGUE.search(label):
            continue
        label = _RENAMED.get(label, label)
        if label.islower():  # "character from Star Wars" names its work; P1441 or the description tells that
            rank = next((i for i, word in enumerate(_TELLING) if word in label), len(_TELLING))
            stated.append((rank, label, from_statement(graph, statement), statement.target or ""))
    # A figure of literature has been filmed and drawn as well: the first home is the most telling.
    for _, label, evidence, qid in sorted(stated, key=lambda found: found[0])[:1]:
        kinds.append(label)
        lattice.add(
            indefinite(label),
            {f"k:{label}", *_wider(label)},
            evidence=(evidence,),
            conditions={Condition(property="P31", value=qid)},
            order=11,
        )
    wider = frozenset(f for k in kinds for f in (f"k:{k}", *_wider(k)))
    text = graph.description(case.answer) or ""
    found = _DESCRIBED.match(text)
    if found is not None:
        labels = {case.answer: label} if (label := graph.label(case.answer)) else {}
        kind = found["kind"][:1].lower() + found["kind"][1:]
        evidence = Evidence(
            kind="description",
            subject=case.answer,
            language=graph.language,
            text=text,
            span=found.span("kind"),
            labels=labels,
        )
        if _SUPPORTED.search(kind) and normalise(kind) not in {"character", "fictional human"}:
            lattice.add(
                indefinite(kind), {f"k:{kind}", *_wider(kind)}, evidence=(evidence,),
                conditions={Condition(property="text", value=f"kind:{normalise(kind)}")}, order=5,
            )  # fmt: skip
        work = found["work"]
        if work and any(c.isupper() for c in work) and len(work.split()) <= 6 and found["link"].lower() != "on":
            phrase = f"{kind} {found['link'].lower()} {definite(work, of='work')}"
            if not names_subject(case, work) and not repeats_answer(case, phrase):
                lattice.add(
                    indefinite(phrase),
                    {f"w:{normalise(work)}", f"k:{kind}", *_wider(kind)},
                    evidence=(Evidence(
                        kind="description", subject=case.answer, language=graph.language, text=text,
                        span=(found.start("kind"), found.end("work")), labels=labels,
                    ),),
                    conditions={Condition(property="text", value=f"in:{normalise(work)}")},
                    order=1,
                )  # fmt: skip
    add_kin(case, lattice, parse_person(text, case.vocabulary).kin if text else ())
    homes = [s for s in graph.current(case.answer, "P1441") if s.target and s.target != case.subject][:WORKS]
    graph.fetch(s.target for s in homes if s.target)
    for statement in homes:
        label = graph.label(statement.target or "")
        if label is None or names_subject(case, label):
            continue
        lattice.add(
            f"a character in {definite(label, of='work')}",
            {f"w:{normalise(label)}", *wider},
            evidence=(from_statement(graph, statement),),
            conditions={Condition(property="P1441", value=statement.target or "")},
            order=2,
        )
    return lattice.proposals()


def _wider(kind: str) -> frozenset[str]:
    """Kinds that a kind of figure entails."""
    out = set()
    if "biblical" in kind and "figure" not in kind:
        out.add("k:biblical figure")
    if (
        ("character" in kind or "superhero" in kind or "supervillain" in kind)
        and "biblical" not in kind
        and kind != "fictional character"
    ):
        out.add("k:fictional character")
    return frozenset(out)
