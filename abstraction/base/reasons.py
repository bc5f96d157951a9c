"""The reasons for which rows have no ladder, in words, with the remedy."""

from __future__ import annotations

from collections.abc import Mapping

from abstraction.base.tiers import Abstention

REASONS: Mapping[str, str] = {
    Abstention.NO_LINK: "no entity of the snapshot carries the answer’s name, or has the id that is given; give the "
    "answer’s id, or a snapshot that has it.",
    Abstention.AMBIGUOUS_LINK: "the answer’s name may mean another entity, and nothing in the question tells which; "
    "give the answer’s id, or the entity that the question is about.",
    Abstention.TYPE_CONFLICT: "what carries the answer’s name is not what the question asks for; see whether the "
    "relation is right.",
    Abstention.NOTHING_KNOWN: "the snapshot says nothing of the answer that a coarser one would follow from.",
    Abstention.ONLY_TRIVIAL: "all that follows repeats what is asked for, or is true of most answers.",
    Abstention.TOLD: "the question itself tells all that follows.",
    Abstention.UNSUPPORTED: "answers of this sort have no ladders.",
    Abstention.YES_NO: "yes and no have no coarser answer.",
    Abstention.BARE_NUMBER: "the answer is a number, and the question does not ask how many, how old or which year.",
    Abstention.CODE: "codes, symbols and scores have no coarser answer.",
    Abstention.KIND_CONFLICT: "the answer is no such thing as the question asks for; give the relation, if the "
    "question was misread.",
    Abstention.UNCERTAIN_LINK: "which entity is meant is less certain than was demanded; give the answer’s id.",
}
