"""A ladder as HTML: its levels, what each tier rests on, and which prediction matched where."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from abstraction.rows import TieredRow
from abstraction.tiers import Evidence, Tier
from granola.scoring import ItemScore
from kg.model import ENTITY_ID

SHOWN_ALIASES = 8


def outcome_chip(item: ItemScore) -> str:
    """A short coloured word: the level that matched, wrong, idk or unscored."""
    if item.verdict is not None and item.verdict.level is not None:
        return f'<span class="chip s{min(item.verdict.level, 6)}">level {item.verdict.level}</span>'
    word = {"wrong": "wrong", "abstained": "idk"}.get(item.status, "unscored")
    return f'<span class="chip {word}">{word}</span>'


def ladder(row: TieredRow, scored: Sequence[tuple[str, ItemScore]]) -> str:
    """The row's levels as a list, finest first, each with its tiers, their evidence and who matched there."""
    levels = []
    for number, level in enumerate(row.levels, start=1):
        tiers = "".join(_tier(tier) for tier in level.tiers)
        here = [system for system, item in scored if item.verdict and item.verdict.level == number]
        matched = f'<div class="here">matched by {escape(", ".join(here))}</div>' if here else ""
        levels.append(
            f'<li><span class="rung s{min(number, 6)}" title="level {number}">{number}</span>'
            f"<div>{tiers}{matched}</div></li>"
        )
    reason = ""
    if row.abstained:
        reason = f'<p class="soft">No coarser answer: <code>{escape(row.abstained)}</code></p>'
    return f'<ol class="ladder">{"".join(levels)}</ol>{reason}'


def _tier(tier: Tier) -> str:
    head = f'<span class="text">{escape(tier.text)}</span>'
    if tier.qid is not None:
        head += f" {item_link(tier.qid)}"
    if tier.bits is not None:
        head += f' <span class="soft">{tier.bits:.1f} bits</span>'
    also = ""
    if tier.aliases:
        shown = ", ".join(escape(alias) for alias in tier.aliases[:SHOWN_ALIASES])
        more = len(tier.aliases) - SHOWN_ALIASES
        also = f"<small>also: {shown}{f' and {more} more' if more > 0 else ''}</small>"
    evidence = "".join(f"<li>{evidence_html(step)}</li>" for step in tier.evidence)
    return f'<div class="tier">{head}{also}{f"<ul>{evidence}</ul>" if evidence else ""}</div>'


def item_link(qid: str, *, label: str | None = None, prop: str | None = None) -> str:
    """A link to an entity's page, at its statements of `prop`; plain text where the id is none."""
    shown = escape(label or qid)
    if not ENTITY_ID.match(qid) or (prop is not None and not ENTITY_ID.match(prop)):
        return shown
    page = f"Property:{qid}" if qid.startswith("P") else qid
    anchor = f"#{prop}" if prop else ""
    title = f' title="{qid}"' if label else ""
    return f'<a href="https://www.wikidata.org/wiki/{page}{anchor}" rel="noreferrer"{title}>{shown}</a>'


def evidence_html(step: Evidence) -> str:
    """One step: a statement as subject, property and value, each a link; a description with its words marked."""

    def named(entity: str) -> str:
        return step.labels.get(entity, entity)

    if step.kind == "statement" and step.subject and step.property:
        value = step.value or ""
        said = item_link(value, label=named(value)) if ENTITY_ID.match(value) else f"<b>{escape(value)}</b>"
        relation = item_link(step.subject, label=named(step.property), prop=step.property)
        note = f' <span class="soft">({escape(step.text)})</span>' if step.text else ""
        return f"{item_link(step.subject, label=named(step.subject))} {relation} &rarr; {said}{note}"
    if step.kind == "description" and step.text:
        text = escape(step.text)
        if step.span is not None:
            start, end = step.span
            text = f"{escape(step.text[:start])}<mark>{escape(step.text[start:end])}</mark>{escape(step.text[end:])}"
        of = item_link(step.subject, label=named(step.subject)) if step.subject else "description"
        language = f' <span class="soft">({escape(step.language)})</span>' if step.language else ""
        return f"{of}: &ldquo;{text}&rdquo;{language}"
    return escape(step.text or step.value or step.kind)
