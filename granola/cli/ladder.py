"""`granola ladder`: one ladder in the terminal, with the evidence of every tier."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

import typer

from abstraction.errors import RowError
from abstraction.formats.fields import FieldError, qid_of
from abstraction.linking.review import Reviewer, shown
from abstraction.pipeline import make_ladders
from abstraction.questions.relation_wording import read_wording, subject_of
from abstraction.reasons import REASONS
from abstraction.relations import relation as relation_row
from abstraction.rows import QARow, TieredRow
from abstraction.tiers import Tier
from granola.cli.linking_options import LINKER_HELP, LinkerName
from granola.cli.output import check_language, print_json, warn_of_language, warn_of_relation, warn_of_time
from granola.report.evidence_text import said
from kg.store import open_store

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

SHOWN_ALIASES = 6
PLAIN_WIDTH = 160  # where the output is no terminal


def ladder(
    question: str = typer.Argument(help="The question, as asked."),
    answer: str = typer.Argument(help="Its gold answer."),
    snapshot: str = typer.Option(help="The snapshot to link to and climb in: a file, or bolt://HOST:PORT."),
    relation: str | None = typer.Option(None, help="Property id, as P19; by default told by the wording."),
    answer_qid: str | None = typer.Option(None, help="The answer's item, as Q90; by default linked by name."),
    subject: str | None = typer.Option(None, help="The entity asked about; by default read from the question."),
    subject_qid: str | None = typer.Option(None, help="Its item, as Q76."),
    language: str = typer.Option("en", help="Language of names and tiers, with its fallbacks."),
    linker: LinkerName = typer.Option(LinkerName.QUESTION, help=LINKER_HELP),
    as_json: bool = typer.Option(False, "--json", help="Print the tiered row as JSON."),
) -> None:
    """Show the ladder of one answer: every tier, coarser with each level, and what entails it."""
    if not question.strip() or not answer.strip():
        raise RowError("the question and the answer must not be empty")
    wording = read_wording(question)
    if relation is None:
        relation = wording.relation
        sort = f"no relation, but an answer of the kind {wording.kind.asks}" if wording.kind else "no relation"
        told = f"relation {relation}" if relation else f"{sort}: the ladder follows the answer's class"
        print(f"granola: {told} (by the wording; --relation sets it)", file=sys.stderr)
    else:
        relation = relation_row(relation.upper() if relation[:1] == "p" else relation).id
        warn_of_relation(relation)
    check_language(language)
    try:
        row = QARow(
            id="1",
            question=question.strip(),
            answers=(answer.strip(),),
            answer_qids=(qid_of(answer_qid, "--answer-qid"),),
            relation=relation,
            subject_text=subject or (subject_of(question, relation) if relation else None),
            subject_qid=qid_of(subject_qid, "--subject-qid"),
        )
    except FieldError as error:
        raise RowError(str(error)) from error
    with closing(open_store(snapshot)) as store:
        warn_of_language(language, store)
        warn_of_time(store)
        made = next(iter(make_ladders([row], store, language=language, linker=linker)))
        doubts = [] if as_json else shown(list(Reviewer(store, language=language).doubts(made)))
    if as_json:
        print_json({"schema_version": 1, **made.to_json()}, indent=2)
        return
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PLAIN_WIDTH)
    console.print(_tree(made))
    for line in doubts:
        console.print(line, style="dim", markup=False)


def _tree(row: TieredRow) -> Tree:
    from rich.text import Text
    from rich.tree import Tree

    entity = row.question_entity or {}
    asked = " ".join(filter(None, (row.relation, entity.get("text"), entity.get("qid"))))
    root = Tree(Text.assemble((row.question, "bold"), (f"  {asked}" if asked else "", "dim")))
    for number, level in enumerate(row.levels, 1):
        branch = root.add(Text(f"level {number}" + (", the answer" if number == 1 else ""), style="cyan"))
        for tier in level.tiers:
            leaf = branch.add(_heading(tier))
            for evidence in tier.evidence:
                leaf.add(Text(said(evidence), style="dim"))
    if row.abstained:
        why = REASONS.get(row.abstained, "")
        root.add(Text(f"abstained: {row.abstained}" + (f": {why}" if why else ""), style="yellow"))
    return root


def _heading(tier: Tier) -> Text:
    from rich.text import Text

    text = Text(tier.text, style="bold")
    if tier.qid:
        text.append(f" {tier.qid}", style="not bold dim")
    if tier.bits is not None:
        text.append(f" {tier.bits:.1f} bits", style="not bold dim")
    if tier.aliases:
        more = len(tier.aliases) - SHOWN_ALIASES
        shown = ", ".join(tier.aliases[:SHOWN_ALIASES]) + (f" and {more} more" if more > 0 else "")
        text.append(f"  also: {shown}", style="not bold dim")
    return text
