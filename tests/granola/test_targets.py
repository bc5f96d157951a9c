"""Training data from samples: what is taught, and in which form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstraction.models.chat_model import Message
from abstraction.pipeline import LadderMaker
from granola.cli import main
from granola.decoding.claims import Claim, ClaimTally, tally
from granola.decoding.drag_graph import DragGraph
from granola.decoding.responses import ResponseReader
from granola.decoding.samples import SampleRow
from granola.decoding.training_targets import Targets, preference_rows, supervised_row, targets
from kg.store.sqlite import SQLiteStore
from tests.worlds import CLASSES, entity, store_of

WORLD = (
    entity("Q46", "Europe", "continent", P31="Q5107"),
    entity("Q183", "Germany", "country in Europe", P31="Q3624078", P30="Q46"),
    entity("Q142", "France", "country in Europe", P31="Q3624078", P30="Q46"),
    entity("Q1055", "Hamburg", "city in Germany", P31="Q515", P131="Q183", P17="Q183"),
    entity("Q64", "Berlin", "capital of Germany", P31="Q515", P131="Q183", P17="Q183"),
    entity("Q90", "Paris", "capital of France", P31="Q515", P131="Q142", P17="Q142"),
)
READER = ResponseReader(LadderMaker(store_of(*WORLD)))
UNKNOWN = "No idea."


def row(*responses: str) -> SampleRow:
    return SampleRow(id="1", question="Where was Ada Lang born?", samples=responses, relation="P19")


def counted(*responses: str) -> ClaimTally:
    (readings,) = READER.read([row(*responses)])
    return tally(readings, containers=lambda _: frozenset())


def of(*responses: str, support: float = 0.8, most: int = 2) -> Targets:
    return targets(counted(*responses), DragGraph(support=support), unknown=UNKNOWN, most=most)


def test_what_is_taught() -> None:
    found = of("Hamburg", "Hamburg", "Berlin", "Hamburg", "Berlin")
    assert found.completion == "Germany"
    assert [(pair.rejected, pair.fault) for pair in found.pairs] == [
        ("Hamburg", "overclaims"),
        ("Berlin", "overclaims"),
        ("Europe", "underclaims"),
        (UNKNOWN, "underclaims"),
    ]
    assert all(pair.chosen == "Germany" for pair in found.pairs)
    assert [pair.fault for pair in of("Hamburg", "Hamburg").pairs] == ["underclaims", "underclaims"]
    assert len(of("Hamburg", "Berlin", most=1).pairs) == 2
    none = of("Hamburg", "Nowhere", "Elsewhere")
    assert none.completion == UNKNOWN
    assert {pair.fault for pair in none.pairs} == {"overclaims"}
    assert of("IDK", "IDK").pairs == ()


def test_no_answer_is_set_against_its_own_words() -> None:
    """The city of New York in the state of New York, and a finer tier that goes by the same name."""
    claims = tuple(
        Claim(
            text=text, qid=qid, bits=bits, information=bits, depth=depth,
            supporters=frozenset(range(held)), said_by=frozenset(range(said)),
        )
        for text, qid, bits, depth, held, said in [
            ("new york", "Q60001", 9.0, 3, 1, 1),
            ("New York", "Q60", 7.0, 2, 4, 4),
            ("New York", "Q1384", 4.0, 1, 4, 0),
            ("America", "Q30", 1.0, 0, 4, 0),
        ]
    )  # fmt: skip
    counted = ClaimTally(claims=claims, responses=4, abstaining=0, unlinked=0)
    found = targets(counted, DragGraph(support=1.0), unknown=UNKNOWN, most=2)
    assert found.completion == "New York"
    assert [pair.rejected for pair in found.pairs] == ["America", UNKNOWN]


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["Hamburg", "Berlin", "Paris", "Germany", "Europe", "Nowhere", "IDK"]), min_size=1, max_size=8
    ),
    st.sampled_from([0.3, 0.5, 0.8, 1.0]),
)
def test_pairs_are_never_turned_round(responses: list[str], support: float) -> None:
    found = of(*responses, support=support)
    claims = counted(*responses).claims
    order = {claim.text: place for place, claim in enumerate(claims)}
    for pair in found.pairs:
        assert pair.chosen == found.completion != pair.rejected
        if pair.fault == "overclaims":
            assert pair.rejected in order
            assert pair.chosen == UNKNOWN or order[pair.rejected] < order[pair.chosen]
        else:
            assert pair.rejected == UNKNOWN or order[pair.rejected] > order[pair.chosen]


def test_the_forms_that_trl_reads() -> None:
    found = of("Hamburg", "Berlin")
    prompt = (Message(role="system", content="Be exact."), Message(role="user", content="Where?"))
    turns = [{"role": "system", "content": "Be exact."}, {"role": "user", "content": "Where?"}]
    supervised = supervised_row(row("Hamburg", "Berlin"), found, prompt)
    assert supervised["prompt"] == turns
    assert supervised["completion"] == [{"role": "assistant", "content": "Germany"}]
    first = next(preference_rows(row("Hamburg", "Berlin"), found, prompt))
    assert {key: first[key] for key in ("prompt", "chosen", "rejected")} == {
        "prompt": turns,
        "chosen": [{"role": "assistant", "content": "Germany"}],
        "rejected": [{"role": "assistant", "content": "Berlin"}],
    }


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with SQLiteStore.create(tmp_path / "world.sqlite") as store:
        store.write([*CLASSES, *WORLD])
        store.finish()
    samples = tmp_path / "s.jsonl"
    rows = [
        {"id": "1", "question": "Where was Ada Lang born?", "relation": "P19", "samples": ["Hamburg", "Berlin"]},
        {"id": "2", "question": "Where was Bob Lang born?", "relation": "P19", "samples": ["Hamburg", "Nowhere"]},
        {"id": "3"},
    ]
    samples.write_text("".join(json.dumps(one) + "\n" for one in rows))
    for kind, number in (("supervised", 2), ("preferences", 6)):
        out = tmp_path / f"{kind}.jsonl"
        words = [
            "granola",
            "derive",
            "targets",
            samples,
            "--snapshot",
            tmp_path / "world.sqlite",
            "--kind",
            kind,
            "--out",
            out,
        ]
        monkeypatch.setattr("sys.argv", [*map(str, words), "--prompt", "agg"])
        with pytest.raises(SystemExit) as ended:
            main.main()
        assert ended.value.code == 1
        assert f"2 questions: {number} rows; 1 not known" in capsys.readouterr().out
        made = [json.loads(line) for line in out.read_text().splitlines()]
        assert len(made) == number
        assert made[0]["prompt"][0]["role"] == "user"
        assert made[-1].get("completion", made[-1].get("chosen")) == [{"role": "assistant", "content": "I don't know."}]
