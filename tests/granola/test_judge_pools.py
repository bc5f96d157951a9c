"""`granola verdicts --pool`: several judges of the same items, in the rows of every evidence room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from granola.commands import Verdicts
from granola.errors import UsageError
from granola.evidence.evidence_task import EstimateSettings
from granola.evidence.grounding.grounding_task import AnswerVerdict, GroundingItem, SentenceVerdict
from granola.evidence.verdict_rows import JudgePool, VerdictRows, pool_judges, read_verdicts
from tests.grounding_world import judged_item

SUP, UNS, CON, NONE = SentenceVerdict


def item(**more: Any) -> GroundingItem:
    return judged_item(**{"system": "one", **more})


def files(folder: Path, *rows_of_judges: list[dict[str, Any]]) -> list[Path]:
    """A file for each judge; rows that name none are of one called by the file: J1, J2 ..."""
    paths = []
    for number, rows in enumerate(rows_of_judges, 1):
        path = folder / f"J{number}.jsonl"
        path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
        paths.append(path)
    return paths


def pool(folder: Path, *rows_of_judges: list[dict[str, Any]]) -> JudgePool:
    rows = read_verdicts(files(folder, *rows_of_judges), on_reject=lambda row: pytest.fail(row.reason))
    return pool_judges(VerdictRows.of(rows, EstimateSettings()))


def answers(folder: Path, *items: GroundingItem) -> GroundingItem:
    """One answer as pooled, read back."""
    (row,) = pool(folder, *([one.model_dump(mode="json")] for one in items)).rows
    return GroundingItem.model_validate(row)


def test_answers_are_pooled_by_majority(tmp_path: Path) -> None:
    pooled = answers(
        tmp_path,
        item(all_=(SUP, UNS)),
        item(all_=(SUP, CON), eligibility=AnswerVerdict.MAJOR, deflects="rule"),
        item(all_=(UNS, None), eligibility=None, deflects="rule"),
    )
    # Two say supported; one unsupported, one contradictory: the worse; one eligible, one not: the worse.
    assert [one.all for one in pooled.sentences] == [SUP, CON]
    assert pooled.eligibility is AnswerVerdict.MAJOR
    assert pooled.deflects == "rule"
    assert pooled.judge == "pooled by majority: [J1] [J2] [J3]"
    grades = [item(eligibility=grade) for grade in AnswerVerdict]
    # Two of three say eligible: of their labels the worse counts.
    assert answers(tmp_path, *grades).eligibility is AnswerVerdict.MINOR
    judges = [item(all_=(SUP, one)) for one in (SUP, NONE, UNS)]
    assert answers(tmp_path, *judges).sentences[1].all is SUP
    seven = [item(all_=(SUP, one)) for one in (SUP, SUP, SUP, UNS, UNS, CON, CON)]
    assert answers(tmp_path, *seven).sentences[1].all is CON


def test_what_no_judge_says_is_named(tmp_path: Path) -> None:
    nobody = answers(tmp_path, item(eligibility=None), item(eligibility=None, unjudged={"eligibility": "cut off"}))
    assert (nobody.eligibility, nobody.unjudged) == (None, {"eligibility": "cut off"})
    silent = answers(tmp_path, item(deflects=None), item(deflects=None))
    assert (silent.deflects, silent.unjudged) == (None, {"deflection": "no judge reported it"})
    assert answers(tmp_path, item(deflects=None), item(deflects="rule")).deflects == "rule"
    assert answers(tmp_path, item(deflects=""), item(deflects="rule")).deflects == ""


def test_agreement_by_hand(tmp_path: Path) -> None:
    """Four sentences of two judges: they agree on three; each says supported twice and thrice: kappa 1/2."""
    first = [item(all_=(SUP, SUP)).model_dump(mode="json"), item(id="b", all_=(UNS, UNS)).model_dump(mode="json")]
    second = [item(all_=(SUP, SUP)).model_dump(mode="json"), item(id="b", all_=(UNS, SUP)).model_dump(mode="json")]
    agreement = pool(tmp_path, first, second).agreement
    assert agreement["sentences all"] == {"n": 4, "agree": 3 / 4, "kappa": pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2))}
    assert agreement["eligibility"] == {"n": 2, "agree": 1.0, "kappa": None}  # of one mind: nothing beyond chance
    assert pool(tmp_path, first, second, second).agreement["sentences all"]["kappa"] == pytest.approx(
        # Fleiss: agreement (1 + 1 + 1 + 1/3) / 4, chance (8/12)^2 + (4/12)^2.
        (10 / 12 - 80 / 144) / (1 - 80 / 144)
    )


def verdict(judge: str, category: str | None, id: str = "1") -> dict[str, Any]:
    supported = None if category is None else category == "supportive"
    return {"evaluator": judge, "id": id, "category": category, "supported": supported, "reply": "r", "failed": "",
            "facts": []}  # fmt: skip


def test_verdicts_on_attributions_are_pooled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = ("supportive", "irrelevant", "contradictory", None)
    one_file = [verdict(f"E{number}", category) for number, category in enumerate(said)]
    pooled = pool(tmp_path, one_file)  # several judges of one file
    (row,) = pooled.rows
    assert (row["category"], row["supported"], row["reply"]) == ("contradictory", False, "")
    assert row["evaluator"] == "pooled by majority: [E0] [E1] [E2] [E3]"
    assert "category" not in pooled.agreement  # nobody but three judges has a label
    Verdicts(judged=(tmp_path / "J1.jsonl",), pool=True).execute()
    assert capsys.readouterr().out.startswith("1 item, 4 judges\nE0\nE1\nE2\nE3\n")
    both = pool(tmp_path, [verdict("E1", "supportive"), verdict("E2", "supportive")]).agreement
    assert both["category"] == {"n": 1, "agree": 1.0, "kappa": None}


def test_scores_of_texts_are_means(tmp_path: Path) -> None:
    def text(factuality: float | None, label: str, entailed: float) -> dict[str, Any]:
        return {"id": "1", "knowledge": "k", "scores": {"factuality": factuality}, "factuality_label": label,
                "sentences": [{"text": "k", "entailed": entailed, "piece": str(entailed)}]}  # fmt: skip

    judges = [[text(0.2, "inconsistent", 0.1)], [text(0.6, "consistent", 0.5)], [text(None, "consistent", 0.9)]]
    (row,) = pool(tmp_path, *judges).rows
    assert row["scores"] == {"factuality": pytest.approx(0.4)}
    assert (row["factuality_label"], row["sentences"][0]["entailed"]) == ("consistent", 0.5)


@pytest.mark.parametrize(
    ("judges", "message"),
    [
        (([item()],), "of one judge"),
        (([item()], [item(id="b")]), "no item was judged by all"),
        (([item()], [item(answer="y")]), "different texts or sentences"),
        (([item()], [item(sentences=("s1",), all_=(SUP,))]), "different texts or sentences"),
        (([item(), item()], [item()]), "counts once"),
        (([item(judge="same")], [item(judge="same")]), "counts once"),
        (([item(judge="pooled by majority: [J1] [J2]")], [item()]), "pooled verdicts"),
    ],
)
def test_judges_of_different_items_are_refused(
    judges: tuple[list[GroundingItem], ...], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        pool(tmp_path, *([one.model_dump(mode="json") for one in items] for items in judges))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [item().model_dump(mode="json")], [item(eligibility=AnswerVerdict.MAJOR).model_dump(mode="json")]
    out = tmp_path / "pooled.jsonl"
    Verdicts(judged=tuple(files(tmp_path, *rows)), pool=True, out=out).execute()
    assert "eligibility" in capsys.readouterr().out
    assert orjson.loads(Path(f"{out}.run.json").read_bytes())["agreement"]["eligibility"]["agree"] == 0.0
    assert GroundingItem.model_validate(orjson.loads(out.read_bytes())).eligibility is AnswerVerdict.MAJOR
    told = Verdicts(judged=(out,), rule=("over=all",)).run()
    assert (told.report["one"]["E"].value, told.judges["one"]) == (0.0, ["pooled by majority: [J1] [J2]"])
