"""How fast predictions are matched, one process on one core. `make bench` runs it.

    python scripts/bench_matching.py [--predictions 200000] [--rules 20000] [--noise 1000000] [--rounds 3]

1. The best token-F1 of every prediction with each of three levels of one to three names, beside a plain SQuAD
   implementation in the same run; every value is compared.
2. `rules` against three levels of three names, every question once: names are read for the first time.
3. Random byte strings as predictions, tiers and questions: none may raise.

Processor time, so that other work on the machine matters little; the median of the rounds.
"""

from __future__ import annotations

import argparse
import gc
import random
import re
import statistics
import string
import time
from collections import Counter
from collections.abc import Callable

from granola.matching import matcher, squad

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


SYLLABLES = ("ba", "cor", "del", "fin", "gar", "hol", "ka", "lin", "mor", "nes", "or", "pen", "ro", "sta", "ton", "ve")


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


def predictions(n: int, drawing: random.Random, aliases: int | None) -> list[tuple[str, Ladder]]:
    """Predictions with three levels of `aliases` names, or one to three; a third of them state a tier."""
    found = []
    for _ in range(n):
        ladder = [[name(drawing) for _ in range(aliases or drawing.randint(1, 3))] for _ in range(3)]
        said = drawing.choice(drawing.choice(ladder)) if drawing.random() < 0.33 else name(drawing)
        shape = drawing.randrange(3)
        found.append((said if shape else f"I think that it was {said}.", ladder))
    return found


ARTICLES = re.compile(r"\b(a|an|the)\b")


def plain_normalise(text: str) -> list[str]:
    """SQuAD's steps in its order, one after the other."""
    excluded = set(string.punctuation)
    text = "".join(c for c in text.lower() if c not in excluded)
    return " ".join(ARTICLES.sub(" ", text).split()).split()


def plain_f1(prediction: str, gold: str) -> float:
    """Token-F1 as it is defined."""
    said, wanted = plain_normalise(prediction), plain_normalise(gold)
    if not said or not wanted:
        return float(said == wanted)
    common = sum((Counter(said) & Counter(wanted)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(said), common / len(wanted)
    return 2 * precision * recall / (precision + recall)


def plain(jobs: list[tuple[str, Ladder]]) -> list[float]:
    return [max(plain_f1(said, gold) for gold in names) for said, ladder in jobs for names in ladder]


def ours(jobs: list[tuple[str, Ladder]]) -> list[float]:
    best = squad.best_f1
    return [best(said, names) for said, ladder in jobs for names in ladder]


def timed(work: Callable[[], list[float]]) -> tuple[float, list[float]]:
    """(processor seconds, what came out) with the garbage collector off."""
    squad.forget()
    gc.collect()
    gc.disable()
    began = time.process_time()
    found = work()
    spent = time.process_time() - began
    gc.enable()
    return spent, found


def bench_f1(n: int, rounds: int) -> None:
    jobs = predictions(n, random.Random(SEED), None)
    comparisons = sum(len(names) for _, ladder in jobs for names in ladder)
    distinct = len({text for said, ladder in jobs for text in (said, *(x for names in ladder for x in names))})
    print(f"token-F1, {n:,} predictions, three levels, {comparisons:,} comparisons, {distinct:,} distinct texts")
    spent: dict[str, list[float]] = {"plain": [], "ours": []}
    values: dict[str, list[float]] = {}
    for _ in range(rounds):
        for key, work in (("plain", plain), ("ours", ours)):
            seconds, values[key] = timed(lambda work=work: work(jobs))  # type: ignore[misc]
            spent[key].append(seconds)
    for key, seconds in spent.items():
        print(f"  {key:6s} {n / statistics.median(seconds):10,.0f} predictions/s")
    print(f"  ratio  {statistics.median(spent['plain']) / statistics.median(spent['ours']):.1f} (wanted: 5)")
    off = sum(abs(a - b) > 1e-12 for a, b in zip(values["plain"], values["ours"], strict=True))
    print(f"  values that differ: {off} of {len(values['ours']):,}")


def bench_rules(n: int, rounds: int) -> None:
    rules = matcher("rules")
    rates = []
    for turn in range(rounds):
        jobs = predictions(n, random.Random(f"{SEED}-{turn}"), 3)
        gc.freeze()  # the collector is on, but what is measured is not its way through these
        began = time.process_time()
        for said, ladder in jobs:
            rules.match(said, ladder, "Which of them was it?")
        rates.append(n / (time.process_time() - began))
    rate = statistics.median(rates)
    print(f"rules, three levels of three names, {n:,} questions: {rate:,.0f} predictions/s (wanted: 5,000)")


def bench_noise(n: int) -> None:
    drawing = random.Random(SEED)
    rules = matcher("rules")
    began = time.process_time()
    for index in range(n):
        texts = [drawing.randbytes(drawing.randrange(1, 24)) for _ in range(4)]
        encoding = ("latin-1", "utf-8", "utf-16-le")[index % 3]
        said, one, other, question = (text.decode(encoding, errors="replace") for text in texts)
        rules.match(said, [[one], [other]], question)
    print(f"noise: {n:,} random byte strings, none raised; {n / (time.process_time() - began):,.0f}/s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--predictions", type=int, default=200_000, help="of the token-F1 part")
    parser.add_argument("--rules", type=int, default=20_000, help="questions a round for rules")
    parser.add_argument("--noise", type=int, default=1_000_000, help="random byte strings")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of which the median counts")
    arguments = parser.parse_args()
    bench_f1(arguments.predictions, arguments.rounds)
    bench_rules(arguments.rules, arguments.rounds)
    bench_noise(arguments.noise)


if __name__ == "__main__":
    main()
