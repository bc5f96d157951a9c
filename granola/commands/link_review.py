"""Review of the links of answers: settings of commands that make ladders, and their effect on rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from granola.base.settings import Setting

if TYPE_CHECKING:
    from abstraction.files.rows import TieredRow
    from abstraction.linking.review import Decisions
    from kg.store.protocol import Store


class Confidence(StrEnum):
    """Values of `--min-confidence`."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    GIVEN = "given"


@dataclass(frozen=True, kw_only=True)
class ReviewSettings:
    """Settings: the links that count, and the sheet where a person decides on doubtful ones."""

    min_confidence: Annotated[
        Confidence | None,
        Setting("Make no ladder where an answer's entity is less certain than this.", advanced=True),
    ] = None
    review: Annotated[
        Path | None,
        Setting(
            "Write a CSV sheet of doubtful links to decide on, with rivals and what is known of them.", advanced=True
        ),
    ] = None
    decisions: Annotated[
        Path | None, Setting("A sheet of --review with decisions: what is meant, or none.", advanced=True)
    ] = None

    def read_review(self) -> Decisions:
        """Read the decisions of a person. Raises RowError as `read_decisions`."""
        from abstraction.linking.review import read_decisions

        return read_decisions(self.decisions) if self.decisions else {}

    def apply_review(
        self, ladders: Iterator[TieredRow], store: Store, decisions: Decisions, language: str
    ) -> Iterator[TieredRow]:
        """Remove the ladders of refused or uncertain links; write doubtful links to the sheet."""
        from abstraction.linking.review import Reviewer, without_refused_links, without_uncertain_links, write_sheet

        # Decisions first: decided links need not be reviewed again.
        ladders = (without_refused_links(row, decisions) for row in ladders)
        if self.review is not None:
            ladders = write_sheet(ladders, Reviewer(store, language=language), self.review)
        if self.min_confidence is None:
            return ladders
        least = self.min_confidence.value
        return (without_uncertain_links(row, least) for row in ladders)
