"""`granola audit`: tables and lists, exit status, sheets that are drawn blind and read back, agreement by hand."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from abstraction.relations import relation
from abstraction.rows import read_questions, read_tiered
from abstraction.rows import write_tiered as write_rows
from abstraction.verifying.verdicts import VerdictKind
from granola.audit.finding_tables import attribution_lines, axes_lines, entailment_lines
from granola.audit.offences import FindingCounts, FindingTally
from granola.audit.sheets import COLUMNS, QUESTIONS, draw, read_sheet
from granola.cli.main import app
from granola.errors import SheetError, UsageError
from granola.report.score_tables import relation_title
from granola.scoring.statistics import cohen_kappa, fleiss_kappa, wilson
from kg.building import snapshot

DEMO = Path(__file__).resolve().parents[2] / "granola" / "demo"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("audit") / "demo.sqlite"
    snapshot.build([DEMO / "wikidata.json"], path)
    return path


@pytest.fixture(scope="module")
def tiered(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from abstraction.pipeline import make_ladders
    from kg.store import open_store

    path = tmp_path_factory.mktemp("audit") / "tiers.jsonl"
    write_rows(make_ladders(read_questions([DEMO / "questions.jsonl"]), open_store(str(store))), path)
    return path


def run(*arguments: object, error: type[Exception] | None = None) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    if error is not None:
        assert isinstance(done.exception, error), done.output
    elif done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


def tampered(tiered: Path, folder: Path) -> Path:
    """The file with the first tier of the first ladder told of Mars."""
    rows = [json.loads(line) for line in tiered.read_text(encoding="utf-8").splitlines()]
    row = next(r for r in rows if len(r.get("levels", ())) > 1)
    row["levels"][1]["tiers"][0].update(text="Mars Colony", qid=None)
    path = folder / "tampered.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in rows) + "\n", encoding="utf-8")
    return path


def test_evidence_of_made_ladders_stands(tiered: Path, store: Path) -> None:
    status, told = run(tiered, "--snapshot", store, "--entailment", "--json")
    figures = json.loads(told)
    assert figures["total"]["entailed"] > 200
    flawed = figures["total"].get("flawed", 0)
    assert flawed <= 0.01 * figures["total"]["tiers"], figures["findings"]
    assert status == (1 if flawed else 0)


def test_a_broken_tier_is_listed_and_the_status_is_one(tiered: Path, store: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.jsonl"
    status, told = run(tampered(tiered, tmp_path), "--snapshot", store, "--entailment", "--out", out)
    assert status == 1
    assert "Mars Colony" in told
    head, *found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert head["schema_version"] == 1
    assert {"words-unsupported"} <= {one["verdict"] for one in found if one["text"] == "Mars Colony"}


def test_axes_by_relation_and_class(tiered: Path, store: Path) -> None:
    _, told = run(tiered, "--snapshot", store, "--json")
    figures = json.loads(told)
    assert set(figures["relations"]) > {"P19"}
    assert "person" in figures["classes"]
    total = figures["total"]
    assert total["entailed"] > 0.97 * total["tiers"]
    assert total["tiers"] == sum(group["tiers"] for group in figures["relations"].values())
    assert total["tiers"] == sum(group["tiers"] for group in figures["classes"].values())


def test_foreign_columns_are_judged(store: Path, tmp_path: Path) -> None:
    path = tmp_path / "foreign.csv"
    columns = ["id", "relation", "question", "answer", "granola_answer_1", "granola_answer_2", "granola_answer_3"]
    question = "Where was Barack Obama born?"
    cells = ["1", "P19", question, "Honolulu", "Honolulu", "Hawaii", "Earth"]
    path.write_text(",".join(columns) + "\n" + ",".join(cells) + "\n", encoding="utf-8")
    status, told = run(path, "--snapshot", store)
    assert status == 1
    assert "'Earth': uninformative" in told
    assert "Hawaii'" not in told


def test_wrong_usage(tiered: Path, store: Path) -> None:
    for arguments in ([tiered], [tiered, tiered, "--snapshot", store], [tiered, "--sheet", 3, "--entailment"],
                      [tiered, "--annotated", "--sheet", 3]):  # fmt: skip
        run(*arguments, error=UsageError)


def test_a_sheet_is_seeded_shuffled_and_blind(tiered: Path, tmp_path: Path) -> None:
    one, two, other = (tmp_path / f"{name}.csv" for name in ("one", "two", "other"))
    for path, seed in ((one, 1), (two, 1), (other, 2)):
        assert run(tiered, "--sheet", 40, "--out", path, "--seed", seed)[0] == 0
    assert one.read_bytes() == two.read_bytes() != other.read_bytes()
    with one.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == list(COLUMNS)
    assert len(rows) == 40
    assert all(row["correct"] == row["informative"] == row["granularity"] == "" for row in rows)
    assert all(row["evidence"] for row in rows)
    key = [json.loads(line) for line in Path(f"{one}.key.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [entry["text"] for entry in key] == [row["tier"] for row in rows]
    assert not any(row["question"] and entry["row"] in row.values() for entry, row in zip(key, rows, strict=True))
    order = {r.id: n for n, r in enumerate(read_tiered(tiered))}
    assert [order[entry["row"]] for entry in key] != sorted(order[entry["row"]] for entry in key)


def test_an_equal_draw_takes_each_relation_in_turn(tiered: Path) -> None:
    rows = list(read_tiered(tiered))
    relations = {row.relation for row in rows if len(row.levels) > 1}
    items = draw(rows, len(relations), seed=3, equally=True)
    assert {item.row.relation for item in items} == relations
    assert len(draw(rows, 10**6, seed=3)) == sum(len(level.tiers) for row in rows for level in row.levels[1:])


def test_a_draw_gives_each_kind_of_answer_its_share(tiered: Path) -> None:
    rows = [row for row in read_tiered(tiered) if row.relation and len(row.levels) > 1]
    whole = Counter(relation(r.relation or "").asks for r in rows for level in r.levels[1:] for _ in level.tiers)
    for n in (1, 17, 60):
        items = draw(rows, n, seed=5)
        assert len(items) == len({(item.row.id, item.level, item.position) for item in items}) == n
        drawn = Counter(relation(item.row.relation or "").asks for item in items)
        assert all(abs(drawn[kind] - n * size / whole.total()) < 1 for kind, size in whole.items())


def filled(path: Path, name: str, marks: list[str], before: str = "b") -> Path:
    """A sheet whose columns hold the same marks, a letter an item."""
    out = path / f"{name}.csv"
    with out.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for number, mark in enumerate(marks, 1):
            writer.writerow([number, "q", "", "a", before, f"tier {number}", "e", *[mark] * len(QUESTIONS)])
    return out


def test_rates_of_one_and_of_two_annotators(tmp_path: Path) -> None:
    a = filled(tmp_path, "a", ["1", "yes", "no", "0", "y", "", "1", "1", "1", "1"])
    b = filled(tmp_path, "b", ["1", "yes", "no", "1", "y", "n", "1", "1", "1", "?"])
    _, alone = run("--annotated", a, "--json")
    rate = json.loads(alone)["rates"][0]
    assert (rate["axis"], rate["errors"], rate["n"], rate["open"]) == ("correct", 2, 9, 1)
    assert rate["kappa"] is None
    _, both = run("--annotated", a, b, "--json")
    rate = json.loads(both)["rates"][-1]
    # Items 3 and 6 are errors, 4 divides them. Eight items have two marks: 7 agree, by chance 6/8·7/8 + 2/8·1/8.
    assert (rate["axis"], rate["errors"], rate["n"], rate["open"], rate["shared"]) == ("granularity", 2, 9, 1, 8)
    assert rate["kappa"] == pytest.approx((7 / 8 - 44 / 64) / (1 - 44 / 64))
    assert "kappa" in run("--annotated", a, b)[1]


def test_first_answers_are_drawn_if_asked_for_and_told_apart(tiered: Path, tmp_path: Path) -> None:
    rows = list(read_tiered(tiered))
    items = draw(rows, 10**6, seed=3, with_first=True)
    first = [item for item in items if item.level == 1]
    assert len(first) == len(rows)
    assert len(items) == len(rows) + sum(len(level.tiers) for row in rows for level in row.levels[1:])
    deep = next(item for item in items if item.level == 3)
    finer = [" | ".join(tier.text for tier in level.tiers) for level in deep.row.levels[:2]]
    assert deep.before == " > ".join(finer), "all finer levels, not only the one before"
    asked = next(item for item in items if "Barack Obama" in item.row.question)
    assert asked.template == asked.row.question.replace("Barack Obama", "[X]")
    # Of one first answer, which is right, and of one coarser tier, which is wrong on every axis.
    one = filled(tmp_path, "one", ["1"], before="")
    text = one.read_text(encoding="utf-8")
    one.write_text(text + f"2,q,,a,b,t,e{',0' * len(QUESTIONS)}\n", encoding="utf-8")
    told = json.loads(run("--annotated", one, "--json")[1])
    assert [(rate["errors"], rate["n"]) for rate in told["rates"]] == [(1, 1)] * len(QUESTIONS)
    assert [(rate["errors"], rate["n"]) for rate in told["rates_with_first_answers"]] == [(1, 2)] * len(QUESTIONS)
    paper = {"correct": "< 1 %", "informative": None, "informative_template": "6 %", "granularity": "9 %"}  # Table 2
    for rates in (told["rates"], told["rates_with_first_answers"]):
        assert {rate["axis"]: rate["paper"] for rate in rates} == paper
    assert "358 answers with the 124 first ones among them" in told["comparable"]
    lines = {line.split()[0]: line for line in run("--annotated", one)[1].splitlines() if line}
    for axis, share in paper.items():  # both readings of informative, the paper's figures beside
        assert lines[axis].endswith(share or " -")


def test_the_two_readings_of_informative_are_counted_apart(tmp_path: Path) -> None:
    path = filled(tmp_path, "two", [])
    cells = {"item": "1", "tier": "a music label", "before": "x", "correct": "1", "granularity": "1"}
    with path.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS)
        writer.writerow({**cells, "informative": "0", "informative_template": "1"})
        writer.writerow({**cells, "item": "2", "informative": "0", "informative_template": "0"})
    told = {rate["axis"]: rate["errors"] for rate in json.loads(run("--annotated", path, "--json")[1])["rates"]}
    assert told == {"correct": 0, "informative": 2, "informative_template": 1, "granularity": 0}


def test_sheets_that_cannot_be_read(tmp_path: Path) -> None:
    bad = filled(tmp_path, "bad", ["perhaps"])
    with pytest.raises(SheetError, match=r"bad\.csv:2: correct is 'perhaps'"):
        read_sheet(bad)
    bad.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(SheetError, match="no column item, tier, correct"):
        read_sheet(bad)
    other = filled(tmp_path, "other", ["1"])
    other.write_text(other.read_text(encoding="utf-8").replace("tier 1", "tier 9"), encoding="utf-8")
    run("--annotated", filled(tmp_path, "good", ["1"]), other, error=SheetError)


def test_semicolons_of_a_spreadsheet(tmp_path: Path) -> None:
    path = tmp_path / "semi.csv"
    path.write_text("\ufeff" + ";".join(COLUMNS) + "\n1;q, really;;a;b;t;e;1;0;;\n", encoding="utf-8")
    marks = {"correct": True, "informative": False, "informative_template": None, "granularity": None}
    assert read_sheet(path).items == {"1": marks}


def test_wilson_by_a_known_example() -> None:
    # 1 of 10: 0.0179-0.4042 (Newcombe 1998, table I's method 3).
    found = wilson(1, 10)
    assert (round(found.low, 4), round(found.high, 4)) == (0.0179, 0.4042)
    assert wilson(0, 20).low == 0.0
    assert wilson(20, 20).high == 1.0
    assert math.isnan(wilson(0, 0).low)
    with pytest.raises(ValueError, match="from 0 to 3"):
        wilson(4, 3)


def test_kappas_by_known_examples() -> None:
    # Fleiss 1971's table as in every textbook: 14 raters, 10 subjects, 5 categories: 0.210.
    counts = [(0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1), (7, 7, 0, 0, 0),
              (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7)]  # fmt: skip
    items = [[str(category) for category, n in enumerate(row) for _ in range(n)] for row in counts]
    assert fleiss_kappa(items) == pytest.approx(0.210, abs=0.0005)
    # 50 items, both yes 20, both no 15, 5 and 10 divided: observed 0.7, by chance 0.5.
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert cohen_kappa(pairs) == pytest.approx(0.4)
    assert math.isnan(cohen_kappa([]))
    assert math.isnan(cohen_kappa([("y", "y")]))
    with pytest.raises(ValueError, match="same number"):
        fleiss_kappa([["a", "b"], ["a"]])


@pytest.mark.parametrize("width", [60, 80, 140])
@pytest.mark.parametrize("lines_of", [axes_lines, entailment_lines, attribution_lines])
def test_tables_of_an_audit_fit_the_terminal(lines_of: Callable[[FindingTally, int], list[str]], width: int) -> None:
    tally = FindingTally()
    label = relation_title("P1082")
    for groups, name in ((tally.relations, "P1082"), (tally.relations, "P19"), (tally.classes, "place")):
        groups[name] = FindingCounts(rows=12_345, tiers=23_456)
        groups[name].by.update({str(verdict): 1_234 for verdict in VerdictKind})
    lines = lines_of(tally, width)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert label in text
    assert "…" not in text
    assert text.count("12345") == 3
