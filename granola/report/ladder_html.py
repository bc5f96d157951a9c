"""A ladder as HTML: its levels, what each tier rests on, and which prediction matched where."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from abstraction.reasons import REASONS
from abstraction.rows import TieredRow
from abstraction.tiers import Evidence, Tier
from granola.scoring.items import ItemScore
from kg.model import ENTITY_ID

SHOWN_ALIASES = 8
LONGEST = 90  # characters of a prediction beside its level
# The ids that WikiData's own pages have as anchors; others were made for data without ids.
_STATEMENT_ID = re.compile(r"\A[QP][0-9]+\$[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}\Z", re.IGNORECASE)


def gold(row: TieredRow) -> str:
    """The gold answers, each once."""
    return " / ".join(dict.fromkeys(row.answers))


def outcome_chip(item: ItemScore) -> str:
    """A short coloured word: the level that matched, wrong, idk or unscored."""
    if item.verdict is not None and item.verdict.level is not None:
        return f'<span class="chip s{min(item.verdict.level, 6)}">level {item.verdict.level}</span>'
    word = {"wrong": "wrong", "abstained": "idk"}.get(item.status, "unscored")
    return f'<span class="chip {word}">{word}</span>'


def ladder(row: TieredRow, scored: Sequence[tuple[str, ItemScore]], *, bars: bool = False) -> str:
    """The row's levels as a list, finest first, each with its tiers, their evidence and who matched there.

    `bars` draws how much each tier tells, and beside the systems' names what they said.
    """
    levels = []
    most = max((tier.bits or 0.0 for level in row.levels for tier in level.tiers), default=0.0) if bars else 0.0
    for number, level in enumerate(row.levels, start=1):
        tiers = "".join(_tier(tier, most) for tier in level.tiers)
        here = [(system, item) for system, item in scored if item.verdict and item.verdict.level == number]
        names = [_with_words(*one) if bars else escape(one[0]) for one in here]
        matched = f"<p>{'' if bars else 'matched by '}{', '.join(names)}</p>" if here else ""
        levels.append(f"<li>{tiers}{matched}")
    reason = ""
    if row.abstained:
        words = REASONS.get(row.abstained, "")
        reason = f"<p class=soft>No coarser answer: <code>{escape(row.abstained)}</code> {escape(words)}</p>"
    return f"<ol class=levels>{''.join(levels)}</ol>{reason}"


def _with_words(system: str, item: ItemScore) -> str:
    text = item.prediction or ""
    return f"<b>{escape(system)}</b> said <q>{escape(text if len(text) <= LONGEST else text[: LONGEST - 1] + '…')}</q>"


def _tier(tier: Tier, most: float = 0.0) -> str:
    head = f"<b>{escape(tier.text)}</b>"
    if tier.qid is not None:
        head += f" {item_link(tier.qid)}"
    if tier.bits is not None:
        head += f" <em>{tier.bits:.1f} bits</em>"
    if tier.bits is not None and most:
        head += f'<div class="bits"><span style="width:{100 * tier.bits / most:.0f}%"></span></div>'
    also = ""
    if tier.aliases:
        shown = ", ".join(escape(alias) for alias in tier.aliases[:SHOWN_ALIASES])
        more = len(tier.aliases) - SHOWN_ALIASES
        also = f"<small>also: {shown}{f' and {more} more' if more > 0 else ''}</small>"
    evidence = "".join(f"<li>{evidence_html(step)}" for step in tier.evidence)
    return f"<div>{head}{also}{f'<ul>{evidence}</ul>' if evidence else ''}</div>"


def address(qid: str, *, prop: str | None = None, statement: str | None = None) -> str | None:
    """An entity's page at WikiData, at a statement or else at those of `prop`; None where an id is none."""
    if not ENTITY_ID.match(qid) or (prop is not None and not ENTITY_ID.match(prop)):
        return None
    page = f"Property:{qid}" if qid.startswith("P") else qid
    anchor = statement if statement and _STATEMENT_ID.match(statement) else prop
    return f"https://www.wikidata.org/wiki/{page}" + (f"#{anchor}" if anchor else "")


def item_link(qid: str, *, label: str | None = None, prop: str | None = None, statement: str | None = None) -> str:
    """A link to `address`; plain text where there is none."""
    shown = escape(label or qid)
    href = address(qid, prop=prop, statement=statement)
    if href is None:
        return shown
    return f"<a href={href}>{shown}</a>"  # of letters, figures and - : . / # $ alone


def evidence_html(step: Evidence) -> str:
    """One step: a statement with a link to it; a description, with a link to its entity, its words marked."""

    def named(entity: str) -> str:
        return step.labels.get(entity, entity)

    if step.kind == "statement" and step.subject and step.property:
        value = step.value or ""
        shown = escape(named(value)) if ENTITY_ID.match(value) else f"<b>{escape(value)}</b>"
        relation = item_link(step.subject, label=named(step.property), prop=step.property, statement=step.statement)
        note = f" <em>({escape(step.text)})</em>" if step.text else ""
        return f"{escape(named(step.subject))} {relation} &rarr; {shown}{note}"
    if step.kind == "description" and step.text:
        text = escape(step.text)
        if step.span is not None:
            start, end = step.span
            text = f"{escape(step.text[:start])}<mark>{escape(step.text[start:end])}</mark>{escape(step.text[end:])}"
        of = item_link(step.subject, label=named(step.subject)) if step.subject else "description"
        language = f" <em>({escape(step.language)})</em>" if step.language else ""
        return f"{of}: &ldquo;{text}&rdquo;{language}"
    return escape(step.text or step.value or step.kind)
