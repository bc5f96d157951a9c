"""Scores by groups of questions: by a field of theirs, or in bins of equal size of a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from granola.runs.scores.scored_systems import Systems
from granola.runs.scores.scoring_settings import GroupSettings, ScoringSettings

if TYPE_CHECKING:
    from abstraction.rows import TieredRow
    from granola.scoring.aggregation import GroupScore

DEFAULT_BINS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Grouping:
    """A way to group questions: by `field`, in `bins` where it is a number."""

    field: str
    bins: int | None = None

    @property
    def title(self) -> str:
        """What a table of it is called."""
        return self.field if self.bins is None else f"{self.field}, bins of equal size"


def groupings(by: Sequence[str], popularity: Sequence[str], bins: int | None) -> list[Grouping]:
    """The groupings that options ask for, each once, columns first. Raises UsageError."""
    from granola.errors import UsageError
    from granola.scoring.grouping import BINS

    if bins is not None and bins < 1:
        raise UsageError(f"--bins is {bins}; allowed: 1 or more, as in --bins 5")
    if bins is not None and not popularity:
        raise UsageError("--bins goes with --popularity FIELD or --page-views FILE")
    found = [Grouping(field=name) for name in by]
    found += [Grouping(field=name, bins=bins or BINS) for name in popularity]
    return list(dict.fromkeys(found))


def with_popularity(
    rows: Sequence[TieredRow], popularity: Sequence[str], page_views: str | None
) -> tuple[Sequence[TieredRow], list[str]]:
    """(the rows, the fields to group them by as popularity): page views where a file is given, then what is asked for.

    Where neither is, the sitelinks that rows carry of the entity asked about. Raises as `with_page_views`.
    """
    from granola.runs.outputs import count, note
    from granola.scoring.page_views import FIELD, SITELINKS, with_page_views

    fields = list(popularity)
    if page_views is not None:
        rows, found, unread = with_page_views(rows, page_views)
        lines = f"; {count(unread, 'line')} of the file could not be read" if unread else ""
        note(f"{page_views}: page views of {found:,} of {len(rows):,} entities asked about{lines}")
        fields.insert(0, FIELD)
    elif not fields and sum(isinstance(row.extra.get(SITELINKS), int) for row in rows) >= 2 * DEFAULT_BINS:
        fields.append(SITELINKS)
    elif not fields:
        note(
            "no figure by popularity: give --page-views FILE to have one (too few rows say in "
            f"{SITELINKS} how many pages their entity has)"
        )
    return rows, fields


def groups_of(rows: Sequence[TieredRow], asked: Sequence[Grouping]) -> dict[Grouping, Mapping[str, str]]:
    """The group of every row by its id, for each grouping. Raises MatcherError for a field that no row has."""
    from granola.scoring.grouping import by_bins, by_column

    return {
        one: by_column(rows, one.field) if one.bins is None else by_bins(rows, one.field, one.bins) for one in asked
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupedScores:
    """The scores of every system by each grouping, and the rows with the fields that they were grouped by."""

    rows: Sequence[TieredRow]
    scores: Mapping[Grouping, list[dict[str, GroupScore]]]

    @property
    def bins(self) -> int | None:
        """How many bins a number was parted into, None where none was."""
        return next((grouping.bins for grouping in self.scores if grouping.bins is not None), None)


def check_groups(settings: GroupSettings) -> None:
    """Raise UsageError for settings that do not go together, before anything is read."""
    views = [settings.page_views] if settings.page_views else []
    groupings(settings.by, [*settings.popularity, *views], settings.bins)


def grouped_scores(
    systems: Systems, settings: GroupSettings, scoring: ScoringSettings, *, popular: bool
) -> GroupedScores:
    """The scores by the groups that are asked for; `popular` as well by what tells how well known an entity is."""
    from granola.scoring.grouping import grouped

    rows, fields = systems.rows, list(settings.popularity)
    if popular:
        rows, fields = with_popularity(rows, fields, settings.page_views)
    groups = groups_of(rows, groupings(settings.by, fields, settings.bins))
    scores = {
        grouping: [grouped(report, of, resamples=scoring.resamples, seed=scoring.seed) for report in systems.reports]
        for grouping, of in groups.items()
    }
    return GroupedScores(rows=rows, scores=scores)
