"""Page views: files of two columns, joined to the entities asked about."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from abstraction.base.tiers import Level, Tier
from abstraction.files.rows import TieredRow, read_tiered
from granola.commands.score import with_popularity_fields
from granola.errors import UsageError
from granola.scoring.grouping import PAGE_VIEWS, SITELINKS, with_page_views
from tests.conftest import Run


def row(number: int, **subject: str) -> TieredRow:
    levels = (Level(tiers=(Tier(text="x"),)),)
    return TieredRow(id=str(number), question="q", answers=("x",), levels=levels, question_entity=subject or None)


@pytest.mark.parametrize(
    ("text", "name", "views"),
    [
        ("page\tviews\nQ42\t1000\nBarack Obama\t20\n", "barack Obama", 20),
        # quoted as CSV has it: quotes doubled, separators inside, numbers in quotes as well
        ('title,views\n"""Heroes"" (album)",7\n', '"Heroes" (album)', 7),
        ('title,views\n"Washington, D.C.","8"\n', "Washington, D.C.", 8),
        ("title;views\nIPod;2\nFaust, Part One;4\n", "Faust, Part One", 4),
        ("Barack_Obama\t9999999999999999999999\nBarack_Obama\t1\n", "Barack Obama", 1),
    ],
)
def test_forms(text: str, name: str, views: int, tmp_path: Path) -> None:
    for file, packed in (("v", text.encode()), ("v.gz", gzip.compress(text.encode()))):
        (tmp_path / file).write_bytes(packed)
        told, found, unread = with_page_views([row(1, text=name), row(2, text="Nobody"), row(3)], tmp_path / file)
        assert ([one.extra.get(PAGE_VIEWS) for one in told], found, unread) == ([views, None, None], 1, 0)


def test_the_id_goes_before_the_name(tmp_path: Path) -> None:
    path = tmp_path / "v.tsv"
    path.write_text("Q42\t1000\nBarack Obama\t20\nno number\t\n")
    told, _, unread = with_page_views([row(1, qid="Q42", text="Barack Obama")], path)
    assert (told[0].extra[PAGE_VIEWS], unread) == (1000, 1)
    with pytest.raises(UsageError, match="no row's question_entity has views"):
        with_page_views([row(3, text="Nobody")], path)


@pytest.fixture
def scored(tmp_path: Path) -> list[str | Path]:
    """Ten questions about entities with sitelinks, and predictions: what `granola report` and `compare` are given."""
    tiers, said = tmp_path / "tiers.jsonl", tmp_path / "said.jsonl"
    rows = [row(n, qid=f"Q{n}", text=f"Entity {n}").to_json() | {SITELINKS: n} for n in range(1, 11)]
    tiers.write_text("".join(json.dumps(one) + "\n" for one in rows))
    said.write_text("".join(json.dumps({"id": str(n), "prediction": "x"}) + "\n" for n in range(1, 11)))
    return [tiers, said]


def test_lines_that_could_not_be_read_are_told(run: Run, scored: list[str | Path], tmp_path: Path) -> None:
    path = tmp_path / "views.csv"
    path.write_text("qid,views\n" + "".join(f"Q{n},{n}\n" for n in range(1, 10)) + "Q10,many\n")
    _, _, told = run("compare", *scored, "--popularity", path)
    assert "page views of 9 of 10 entities asked about; 1 line of the file could not be read" in told


def test_sitelinks_stand_in_where_there_are_no_page_views(scored: list[str | Path]) -> None:
    rows = list(read_tiered(str(scored[0])))
    assert with_popularity_fields(rows, []) == (rows, [SITELINKS])


def test_a_figure_that_is_left_out_is_told(scored: list[str | Path], capfd: pytest.CaptureFixture[str]) -> None:
    rows = list(read_tiered(str(scored[0])))[:9]  # fewer than two a bin
    assert with_popularity_fields(rows, []) == (rows, [])
    assert "no figure by popularity: give --popularity FIELD, or FILE" in capfd.readouterr().err
    assert with_popularity_fields(rows, [SITELINKS]) == (rows, [SITELINKS])
    assert capfd.readouterr().err == ""
