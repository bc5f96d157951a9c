"""What the page says of codes: reasons to abstain, rules of matching and of linking, scores."""

from __future__ import annotations

SCORES = {
    "granola_accuracy": "share of predictions that are right at any level",
    "standard_accuracy": "share that are right at level 1",
    "informativeness": "how much all say: the mean of the weights, 0 where nothing matched",
    "informativeness_bits": "the same by bits: those of the level reached, as a part of the answer’s",
    "selective_accuracy": "share right at any level of those that do not decline",
    "selective_standard_accuracy": "share right at level 1 of those that do not decline",
    "coverage": "share that do not decline to answer",
}
LINKED = {
    "given": "given by its id",
    "only": "nothing else carries the name",
    "smallest-id": "the smallest id of all that carry the name",
    "label": "this is its very name",
    "noun": "the question’s wording asks for such a thing",
    "class": "it is the kind of thing that is asked for",
    "frequency": "it is what such answers mean most often",
    "prominence": "it is the best known",
    "statement": "WikiData states it of the entity asked about",
    "neighbours": "it is near the entity asked about",
    "described": "its description tells",
    "place": "it lies where the entity asked about does",
    "time": "it is of the right time",
    "creator": "it is by whom the question names",
}
ADVICE = {
    "yes-no": "Ask for what the yes is about: “Where …?”, “When …?” or “Who …?” in place of “Is …?”.",
    "bare-number": "Say in the question what the number counts, as in “How many people live in …?”, or give the "
    "relation under “Ids and language”.",
    "code": "Ask for the thing that the code stands for, such as a country in place of its letters.",
    "kind-conflict": "See whether question and answer belong together, or give the relation under “Ids and language”.",
    "type-conflict": "Give the relation, or the id of the entity that is meant, under “Ids and language”.",
    "ambiguous-link": "Give the answer’s item, or the entity asked about, under “Ids and language”.",
    "uncertain-link": "Give the answer’s item under “Ids and language”.",
}
_RULES = {
    "exact": "the answer is this name",
    "span": "the name stands in the answer",
    "near": "the same words, some left out or in another order",
    "form": "the name in another form",
    "fold": "the name in another spelling or number",
    "joined": "the name written as one word, or parted",
    "person": "the same person, by family name and initials or short names",
    "country": "another name of the country",
    "nation": "the name with its country in another form, or without",
    "acronym": "the initials of the name, or what they stand for",
    "team": "the team by its nickname",
    "words": "all words of the name that tell something",
    "description": "a description that says the same",
    "spelling": "the name with a slip of the pen",
    "phrase": "the phrase in other forms of its words",
    "coverage": "most of a long name",
    "overlap": "all words of the name but one, or one more",
    "polarity": "the same yes or no",
    "alternatives": "several answers are offered",
    "no-match": "no level is stated",
    "negated": "the name is denied",
    "only-nearby": "merely near it",
    "part-of-another-name": "the name is part of another",
    "relative": "somebody or something related to it",
    "beaten": "it is said to have lost",
    "other-kind": "of another kind",
    "other-event": "the name belongs to another event",
    "other-container": "it is placed somewhere else",
    "finer-claim-conflict": "a finer claim contradicts it",
    "equal": "the same",
    "finer-than-gold": "finer than the answer, which it implies",
    "between-tiers": "between two levels",
    "coarser": "coarser than a finer level",
    "coarser-than-all": "coarser than every level",
    "conflict": "another value",
    "none-stated": "no such value is stated",
    "other-unit": "in another unit",
}


def rule_words(rule: str) -> str:
    """What a rule's name means; blank where nobody has told."""
    if rule.startswith("abstain:"):
        return "declines to answer"
    return _RULES.get(rule.removeprefix("date:").removeprefix("amount:"), "")
