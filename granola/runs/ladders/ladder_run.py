"""`granola ladder`: one ladder in the terminal, with the evidence of every tier."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from abstraction.errors import RowError
from abstraction.files.row_models import qid_of
from abstraction.linking.review import Reviewer, shown
from abstraction.pipeline import make_ladders
from abstraction.questions.relation_wording import read_wording, subject_of
from abstraction.reasons import REASONS
from abstraction.rows import QARow, TieredRow
from abstraction.tiers import Tier
from granola.report.ladder_view import evidence_line
from granola.runs.outputs import check_language, print_json, warn_of_language, warn_of_relation, warn_of_time
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import LINKED_TO, Language, Linker, LinkerName, property_id
from kg.store import open_store

if TYPE_CHECKING:
    from rich.text import Text
    from rich.tree import Tree

SHOWN_ALIASES = 6
PLAIN_WIDTH = 160  # where the output is no terminal


@dataclass(frozen=True, kw_only=True)
class LadderRun(Run):
    """Show the ladder of one answer: every tier, coarser with each level, and what entails it."""

    verb: ClassVar[str] = "ladder"

    question: Annotated[str, Setting("The question, as asked.", positional=True)]
    answer: Annotated[str, Setting("Its gold answer.", positional=True)]
    snapshot: Annotated[str, Setting(LINKED_TO)]
    relation: Annotated[
        str | None, Setting("The property asked for, such as P19; by default read from the wording.")
    ] = None
    answer_qid: Annotated[str | None, Setting("The answer's item, as Q90; by default linked by name.")] = None
    subject: Annotated[str | None, Setting("The entity asked about; by default read from the question.")] = None
    subject_qid: Annotated[str | None, Setting("Its item, as Q76.")] = None
    language: Language = "en"
    linker: Linker = LinkerName.QUESTION
    as_json: Annotated[bool, Setting("Print the tiered row as JSON.", flag="--json")] = False

    def run(self) -> ShownLadder:
        """Make the ladder. Raises RowError for an empty question or answer, or an id that is none."""
        if not self.question.strip() or not self.answer.strip():
            raise RowError("the question and the answer must not be empty")
        relation = self._relation()
        check_language(self.language)
        row = self._row(relation)
        with closing(open_store(self.snapshot)) as store:
            warn_of_language(self.language, store)
            warn_of_time(store)
            made = next(iter(make_ladders([row], store, language=self.language, linker=self.linker)))
            doubts = [] if self.as_json else shown(list(Reviewer(store, language=self.language).doubts(made)))
        return ShownLadder(row=made, doubts=doubts, as_json=self.as_json)

    def _relation(self) -> str | None:
        """The relation that is given, or that the question's wording tells, which is said."""
        if self.relation is not None:
            relation = property_id(self.relation)
            assert relation is not None
            warn_of_relation(relation)
            return relation
        wording = read_wording(self.question, self.language)
        sort = f"no relation, but an answer of the kind {wording.kind.asks}" if wording.kind else "no relation"
        told = f"relation {wording.relation}" if wording.relation else f"{sort}: the ladder follows the answer's class"
        print(f"granola: {told} (by the wording; --relation sets it)", file=sys.stderr)
        return wording.relation

    def _row(self, relation: str | None) -> QARow:
        return QARow(
            id="1",
            question=self.question.strip(),
            answers=(self.answer.strip(),),
            answer_qids=(qid_of(self.answer_qid, "--answer-qid"),),
            relation=relation,
            subject_text=self.subject or (subject_of(self.question, relation) if relation else None),
            subject_qid=qid_of(self.subject_qid, "--subject-qid"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownLadder:
    """A row with its ladder, and what is doubtful about it."""

    row: TieredRow
    doubts: Sequence[str]
    as_json: bool

    @property
    def failed(self) -> bool:
        """Never: an answer without coarser ones has a reason."""
        return False

    def show(self) -> None:
        """The ladder as a tree with its evidence, or the row as JSON."""
        if self.as_json:
            print_json({"schema_version": 1, **self.row.to_json()}, indent=2)
            return
        from rich.console import Console

        console = Console(highlight=False)
        if not console.is_terminal:
            console = Console(highlight=False, width=PLAIN_WIDTH)
        console.print(_tree(self.row))
        for line in self.doubts:
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
                leaf.add(Text(evidence_line(evidence), style="dim"))
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
