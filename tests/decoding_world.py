"""A small world that responses are read in, and what drag-graph and self-consistency make of them there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from abstraction.maker.pipeline import LadderMaker
from granola.decoding.aggregation_rules import DragGraph, SelfConsistency
from granola.decoding.decision import Decision
from granola.decoding.response_aggregation import Aggregator
from granola.decoding.samples import SampleRow
from tests.worlds import entity, store_of

STORE = store_of(
    entity("Q46", "Europe", "continent", P31="Q5107"),
    entity("Q183", "Germany", "country in Europe", P31="Q3624078", P30="Q46", aliases=["Federal Republic of Germany"]),
    entity("Q142", "France", "country in Europe", P31="Q3624078", P30="Q46"),
    entity("Q30", "United States of America", "country", P31="Q3624078", aliases=["USA", "United States"]),
    entity("Q980", "Bavaria", "state of Germany", P31="Q10864048", P131="Q183", P17="Q183"),
    entity("Q1055", "Hamburg", "city in Germany", P31="Q515", P131="Q183", P17="Q183", aliases=["Hanse city"]),
    entity("Q64", "Berlin", "capital of Germany", P31="Q515", P131="Q183", P17="Q183"),
    entity("Q1726", "Munich", "city in Bavaria", P31="Q515", P131="Q980", P17="Q183", aliases=["München"]),
    entity("Q90", "Paris", "capital of France", P31="Q515", P131="Q142", P17="Q142"),
    entity("Q1204", "Illinois", "state of the United States", P31="Q35657", P131="Q30", P17="Q30"),
    entity("Q771", "Massachusetts", "state of the United States", P31="Q35657", P131="Q30", P17="Q30"),
    entity("Q28515", "Springfield", "city in Illinois", P31="Q515", P131="Q1204", P17="Q30"),
    entity("Q49158", "Springfield", "city in Massachusetts", P31="Q515", P131="Q771", P17="Q30"),
    entity("Q16", "Canada", "country", P31="Q3624078"),
    entity("Q1904", "Ontario", "province of Canada", P31="Q11828004", P131="Q16", P17="Q16"),
    entity("Q11828004", "province of Canada"),
    entity("Q92561", "London", "city in Canada", P31="Q515", P17="Q16"),
    entity("Q145", "United Kingdom", "country", P31="Q3624078", aliases=["UK"]),
    entity("Q84", "London", "capital of the United Kingdom", P31="Q515", P17="Q145", sitelinks=300),
    entity("Q28513", "Austria-Hungary", "former state", P31="Q3024240", P576=1918),
    entity("Q40", "Austria", "country in Europe", P31="Q3624078", P30="Q46"),
    entity("Q1741", "Vienna", "capital of Austria", P31="Q515", P131="Q40", P17="Q40"),
    entity("Q36834", "composer", "profession", P31="Q28640"),
    entity("Q4700", "Claude Debussy", "French composer (1862-1918)", P31="Q5", P106="Q36834", P27="Q142"),
    entity("Q1151", "Hector Berlioz", "French composer (1803-1869)", P31="Q5", P106="Q36834", P27="Q142"),
    entity("Q7351", "Robert Schumann", "German composer (1810-1856)", P31="Q5", P106="Q36834", P27="Q183"),
    entity("Q159", "Russia", "country", P31="Q3624078"),
    entity("Q36180", "writer", aliases=["author"], P31="Q28640", P279="Q482980"),
    entity("Q482980", "author", aliases=["writer"], P31="Q28640"),
    entity("Q892", "J. R. R. Tolkien", "British composer of songs", P31="Q5", P106="Q36834", P27="Q145"),
    entity("Q7243", "Leo Tolstoy", "Russian writer (1828-1910)", P31="Q5", P106="Q36180", P27="Q159"),
    entity("Q42831", "Ivan Turgenev", "Russian author (1818-1883)", P31="Q5", P106="Q482980", P27="Q159"),
    entity("Q42310", "Jacques Offenbach", "French-German composer", P31="Q5", P106="Q36834", P27=["Q142", "Q183"]),
    entity("Q7312", "Clara Schumann", "German composer (1819-1896)", P31="Q5", P106="Q36834", P27="Q183"),
)
AGGREGATOR = Aggregator(STORE)
MAKER = LadderMaker(STORE)
ALL = DragGraph(support=1.0)
BORN = SampleRow(
    id="1", question="Where was Hans Meyer born?", samples=("",), relation="P19", subject_text="Hans Meyer"
)


def decide(responses: Sequence[str], method: DragGraph | SelfConsistency = ALL, **row: str) -> Decision:
    ((_, decision),) = AGGREGATOR.decide([replace(BORN, samples=tuple(responses), **row)], method)
    return decision
