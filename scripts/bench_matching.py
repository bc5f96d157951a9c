"""How fast predictions are matched by each matcher, one process on one core. `make bench` runs it.

    python scripts/bench_matching.py [--questions 20000] [--rounds 3]

Three levels of three names, every question once: names are read for the first time. Processor time, so that other work
on the machine matters little; the median of the rounds.
"""

from __future__ import annotations

import gc
import random
import statistics
import string
import time

from measuring import SYLLABLES, arguments

from granola.matching import matcher

SEED = 7
FIRST = (
    "Barack", "Maria", "José", "Ludwig", "Anna", "Ivan", "Wei", "Aisha", "Daniel", "Emma", "Felix", "Grace",
    "Hugo", "Ines", "Jan", "Kofi", "Lars", "Nora", "Otto", "Paul", "Rosa", "Sam", "Tom", "Uma", "Vera",
)  # fmt: skip
LAST = (
    "Obama", "Curie", "García", "Beethoven", "Smith", "Petrov", "Zhang", "Khan", "Dupont", "Johnson", "Okafor",
    "Rossi", "Brown", "Clark", "Davis", "Evans", "Ford", "Hill", "Jones", "King", "Lopez", "Moore", "Nash",
)  # fmt: skip
PLACE = (
    "Kunming", "Springfield", "Honolulu", "Île-de-France", "Yunnan", "Bavaria", "Illinois", "Hawaii", "Lyon",
    "Leeds", "Porto", "Cairo", "Lima", "Oslo", "Quito", "Riga", "Seoul", "Turin", "Perth", "Nice",
)  # fmt: skip
KIND = (
    "City, the County of", "Province", "a region in the", "the municipality of", "District", "Republic of the",
    "an island of",
)  # fmt: skip
MONTH = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
CLASS = (
    "composer", "physicist", "rock band", "city", "film director", "American politician", "novel",
    "species of bird", "football club",
)  # fmt: skip
Ladder = list[list[str]]


def made_up(drawing: random.Random) -> str:
    """A name of two or three syllables."""
    return "".join(drawing.choices(SYLLABLES, k=drawing.randint(2, 3))).title()


def name(drawing: random.Random) -> str:
    """A person, a place, a date, a title or a class; many are drawn more than once."""
    kind = drawing.randrange(5)
    if kind == 0:
        middle = f" {drawing.choice(string.ascii_uppercase)}." if drawing.random() < 0.3 else ""
        return f"{drawing.choice(FIRST)}{middle} {drawing.choice((drawing.choice(LAST), made_up(drawing)))}"
    if kind == 1:
        place = drawing.choice((drawing.choice(PLACE), made_up(drawing)))
        return place if drawing.random() < 0.5 else f"{place} {drawing.choice(KIND)} {drawing.choice(PLACE)}"
    if kind == 2:
        return f"{drawing.choice(MONTH)} {drawing.randint(1, 28)}, {drawing.randint(1900, 2020)}"
    if kind == 3:
        return f"The {made_up(drawing)}'s {drawing.choice(CLASS).title()}"
    return f"{drawing.choice(('a', 'an', 'the'))} {drawing.choice(PLACE)} {drawing.choice(CLASS)}"


def predictions(n: int, drawing: random.Random) -> list[tuple[str, Ladder]]:
    """Predictions with three levels of three names; a third of them state a tier."""
    found = []
    for _ in range(n):
        ladder = [[name(drawing) for _ in range(3)] for _ in range(3)]
        said = drawing.choice(drawing.choice(ladder)) if drawing.random() < 0.33 else name(drawing)
        shape = drawing.randrange(3)
        found.append((said if shape else f"I think that it was {said}.", ladder))
    return found


def rates(name_: str, n: int, rounds: int) -> list[float]:
    """Predictions a second, the median of rounds that each have names of their own."""
    chosen = matcher(name_)
    found = []
    for turn in range(rounds):
        jobs = predictions(n, random.Random(f"{SEED}-{turn}"))
        gc.freeze()  # the collector is on, but what is measured is not its way through these
        began = time.process_time()
        for said, ladder in jobs:
            chosen.match(said, ladder, "Which of them was it?")
        found.append(n / (time.process_time() - began))
    return found


def main() -> None:
    parser = arguments(__doc__, data=False)
    parser.add_argument("--questions", type=int, default=20_000, help="a round")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of which the median counts")
    given = parser.parse_args()
    print(f"three levels of three names, {given.questions:,} questions, one core")
    for name_ in ("em", "f1", "rules"):
        rate = statistics.median(rates(name_, given.questions, given.rounds))
        print(f"  {name_}: {rate:,.0f} predictions/s{' (wanted: 5,000)' if name_ == 'rules' else ''}")


if __name__ == "__main__":
    main()
