"""The names of fields in rows: ours, and the columns of GRANOLA-EQ."""

from difflib import get_close_matches
from functools import lru_cache

GRANOLA_ANSWERS = tuple(f"granola_answer_{k}" for k in range(1, 15))  # the dataset has 14 such columns
GRANOLA_COUNT = "num_granola_answers"
QUESTION_SITELINKS = "question_entity_sitelinks"  # ours: number of Wikimedia pages about the subject, by the snapshot
GRANOLA_COLUMNS = (
    "relation", "question",
    "question_entity", "question_entity_qid", "question_entity_description", "question_entity_popularity",
    "answer", "answer_entity_qid", "answer_entity_description", "answer_entity_popularity",
    "score_for_potential_error", *GRANOLA_ANSWERS, GRANOLA_COUNT, "id",
)  # fmt: skip
REFERENCE = "reference_levels"  # the field that keeps existing levels of an input row

NEAR = 0.85  # least difflib ratio, in [0, 1], at which a name counts as a misspelling of another
QUESTION = ("question",)
ANSWERS = ("answer", "answers")
ANSWER_QIDS = ("answer_qid", "answer_qids", "answer_entity_qid", "answer_entity")  # the first one with a value counts
# A misspelt optional field would be ignored silently: see `meant_by`.
OPTIONAL = ("relation", "question_entity", "question_entity_qid", "language", *ANSWER_QIDS)
# Fields with a meaning here; all others are passed on.
KNOWN = frozenset(
    {
        "id", "relation", "question_entity", "question_entity_qid", "levels", "abstained", "schema_version",
        GRANOLA_COUNT, *QUESTION, *ANSWERS, *ANSWER_QIDS, *GRANOLA_ANSWERS,
    }
)  # fmt: skip
# Fields that spreadsheets often capitalise.
HEADINGS = frozenset({"id", "relation", "language", "prediction", *QUESTION, *ANSWERS})


def heading(name: str) -> str:
    """The field name for a spreadsheet's heading: `question` for `Question`; other names as they are."""
    return name.lower() if name.lower() in HEADINGS else name


@lru_cache(maxsize=1000)
def meant_by(name: str) -> str | None:
    """The optional field that a name is probably a misspelling of, as `realtion`; None for none."""
    near = get_close_matches(name, OPTIONAL, n=1, cutoff=NEAR)
    return near[0] if near and near[0] != name else None
