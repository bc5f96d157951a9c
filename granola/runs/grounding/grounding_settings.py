"""Settings that the runs over grounded answers share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from granola.errors import UsageError
from granola.grounding.grounded_samples import RELEVANT_SHARE, Relevance
from granola.grounding.grounding_scores import Deflecting, GroundingSettings, Over, Unjudged, reading_of, worths
from granola.runs.settings import Setting
from granola.runs.shared_settings import Resamples

if TYPE_CHECKING:
    from granola.grounding.grounding_items import GroundingItem

GroundedQuestions = Annotated[
    Path,
    Setting("Questions with passages: GaRAGe's rows, or your own with id, question and passages.", metavar="QUESTIONS",
            positional=True),
]  # fmt: skip
GroundingPrompts = Annotated[
    Path | None,
    Setting("A folder with prompts of your own: answer, eligibility, sentences, deflection, again; not all of them."),
]
ChatWord = Annotated[str, Setting("The chat model: openai:URL#NAME, local:FOLDER, replay:FILE.", metavar="MODEL")]
ChatAnswers = Annotated[Path | None, Setting("Keep the model's replies here; by default beside --out.", recorded=False)]
JudgedAnswers = Annotated[tuple[Path, ...], Setting("Judged answers.", metavar="JUDGED...", positional=True)]
OverQuestions = Annotated[Over, Setting("Over which questions E, uF, F, uRAF and RAF run.")]
DeflectingWorth = Annotated[Deflecting, Setting("What a deflecting answer counts in these scores.")]
UnjudgedWorth = Annotated[Unjudged, Setting("What an answer counts if a judge gave no verdict on it.")]
OverOf = Annotated[
    tuple[str, ...], Setting("The same of one score: E=all. May be repeated.", metavar="SCORE=OVER", flag="--over-of")
]
DeflectingOf = Annotated[
    tuple[str, ...],
    Setting("The same of one score: E=fails. May be repeated.", metavar="SCORE=WORTH", flag="--deflecting-of"),
]
ScoreName = Annotated[str, Setting("The score that slices, tests, figures and biases are of.", flag="--of")]
Bands = Annotated[
    tuple[float, ...],
    Setting(
        "Where bands of the share of relevant passages end, each in (0, 1); the paper's limits are not in its text. "
        "Relevant is strict or wide as --by says; relevant_share is as the score of --of, strict for E, uF and F."
    ),
]
Seed = Annotated[int, Setting("Seed of the resamples.", least=0)]
K = TypeVar("K", bound=StrEnum)
RAF = "RAF strict"


def check_score(name: str, option: str) -> None:
    """Raise UsageError for a name that is no score's."""
    if name not in worths():
        raise UsageError(f"{option} is {name!r}; allowed: {', '.join(worths())}")


@dataclass(frozen=True, kw_only=True)
class FormingSettings:
    """How scores are formed, for the runs that form them."""

    over: OverQuestions = Over.ANSWERABLE
    over_of: OverOf = ()
    deflecting: DeflectingWorth = Deflecting.AS_JUDGED
    deflecting_of: DeflectingOf = ()
    unjudged: UnjudgedWorth = Unjudged.LEFT_OUT
    sliced: ScoreName = RAF
    resamples: Resamples = 1_000
    seed: Seed = 0

    def forming(self) -> GroundingSettings:
        """As the library takes them. Raises UsageError for what names no score, or nothing that it can be."""
        check_score(self.sliced, "--of")
        return GroundingSettings(
            over=self.over, deflecting=self.deflecting, unjudged=self.unjudged,
            resamples=self.resamples, seed=self.seed,
            over_of=_by_score(self.over_of, Over, "--over-of"),
            deflecting_of=_by_score(self.deflecting_of, Deflecting, "--deflecting-of"),
        )  # fmt: skip


def _by_score(given: tuple[str, ...], kind: type[K], name: str) -> dict[str, K]:
    by_score = {}
    for pair in given:
        score, equals, word = pair.partition("=")
        check_score(score, name)
        if not equals or word not in list(kind):
            raise UsageError(f"{name} is {pair!r}; expected SCORE=VALUE with a value of {', '.join(kind)}")
        by_score[score] = kind(word)
    return by_score


def check_bands(bands: tuple[float, ...]) -> None:
    """Raise UsageError for limits that are not in (0, 1)."""
    for limit in bands:
        if not 0 < limit < 1:
            raise UsageError(f"--bands has {limit}; limits are above 0 and below 1")


def named_tags(given: Iterable[str], score: str) -> list[str]:
    """The tags that --by names, each once; `relevant_share` is of the score's reading, strict where it has none."""
    of_score = (reading_of(score) or Relevance.STRICT).share_tag
    return list(dict.fromkeys(of_score if by == RELEVANT_SHARE else by for by in given))


def check_tag(by: str, systems: Mapping[str, list[GroundingItem]]) -> None:
    """Raise UsageError for a tag that no answer has."""
    tags = sorted({tag for items in systems.values() for item in items for tag in item.tags})
    if by not in tags:
        raise UsageError(f"--by {by}: no answer has this tag; there are {', '.join(tags) or 'none'}")
