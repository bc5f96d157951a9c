"""What the fields of rows are called: ours, and the columns of GRANOLA-EQ."""

GRANOLA_ANSWERS = tuple(f"granola_answer_{k}" for k in range(1, 15))
GRANOLA_COUNT = "num_granola_answers"
QUESTION_SITELINKS = "question_entity_sitelinks"  # ours: pages about the entity asked about, by the snapshot
GRANOLA_COLUMNS = (
    "relation", "question",
    "question_entity", "question_entity_qid", "question_entity_description", "question_entity_popularity",
    "answer", "answer_entity_qid", "answer_entity_description", "answer_entity_popularity",
    "score_for_potential_error", *GRANOLA_ANSWERS, GRANOLA_COUNT, "id",
)  # fmt: skip
REFERENCE = "reference_levels"  # where the levels that an input row already had are kept

QUESTION = ("question",)
ANSWERS = ("answer", "answers")
ANSWER_QIDS = ("answer_qid", "answer_qids", "answer_entity_qid", "answer_entity")
KNOWN = frozenset(
    {
        "id", "relation", "question_entity", "question_entity_qid", "levels", "abstained", "schema_version",
        GRANOLA_COUNT, *QUESTION, *ANSWERS, *ANSWER_QIDS, *GRANOLA_ANSWERS,
    }
)  # fmt: skip
