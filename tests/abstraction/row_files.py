"""Files of rows for tests: put there, and read with what is rejected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from abstraction.base.faults import RejectedRow
from abstraction.files.rows import QARow, read_questions


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(path: Path, **options: Any) -> tuple[list[QARow], list[RejectedRow]]:
    rejected: list[RejectedRow] = []
    return list(read_questions([path], on_reject=rejected.append, **options)), rejected


GRANOLA = {
    "relation": "P19", "question": "Where was Arthur Gee born?",
    "question_entity": "Arthur Gee", "question_entity_qid": "Q4798793",
    "question_entity_description": "English footballer", "question_entity_popularity": 18.0,
    "answer": "Earlestown", "answer_entity_qid": "Q1748301",
    "answer_entity_description": "town in Merseyside",
    "answer_entity_popularity": 466.0, "score_for_potential_error": 0.0,
    **{f"granola_answer_{k}": "" for k in range(1, 15)},
    "granola_answer_1": "Earlestown", "granola_answer_2": "Merseyside", "granola_answer_3": "England",
    "num_granola_answers": 3, "id": 289,
}  # fmt: skip
