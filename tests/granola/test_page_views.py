"""Page views: files of two columns, joined to the entities asked about."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from abstraction.rows import TieredRow, read_tiered
from abstraction.tiers import Level, Tier
from granola.commands.score import with_popularity
from granola.errors import UsageError
from granola.scoring.page_views import FIELD, SITELINKS, read_page_views, with_page_views
from tests.conftest import Run

WANTED = (
    "Barack Obama", "Q42", "iPod", '"Heroes" (album)', "Washington, D.C.", "Faust; Part One", "Faust, Part One",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "views"),
    [
        ("page\tviews\nQ42\t1000\nBarack Obama\t20\n", {"Q42": 1000, "Barack Obama": 20}),
        ('qid,views\nQ42,5\r\n"Barack Obama",6\r\n', {"Q42": 5, "Barack Obama": 6}),
        # quoted as CSV has it: quotes doubled, separators inside, numbers in quotes as well
        ('title,views\n"""Heroes"" (album)",7\n"Washington, D.C.","8"\n"Faust; Part One",9\n',
         {'"Heroes" (album)': 7, "Washington, D.C.": 8, "Faust; Part One": 9}),
        ("title;views\nIPod;2\nFaust, Part One;4\nWashington, D.C.;3\n",
         {"IPod": 2, "Faust, Part One": 4, "Washington, D.C.": 3}),
        ('"Heroes"_(album)\t2\n', {'"Heroes" (album)': 2}),
    ],
)  # fmt: skip
def test_forms(text: str, views: dict[str, int], tmp_path: Path) -> None:
    for name, packed in (("v", text.encode()), ("v.gz", gzip.compress(text.encode()))):
        (tmp_path / name).write_bytes(packed)
        told = read_page_views(tmp_path / name, WANTED)
        assert (told.views, told.unread) == (views, 0)


def test_lines_without_views(tmp_path: Path) -> None:
    path = tmp_path / "v"
    path.write_bytes(b"xxx\nBarack_Obama\t9999999999999999999999\nBarack_Obama\t1\n\xff\xfe\n")
    told = read_page_views(path, WANTED)
    assert told.views == {"Barack Obama": 1}
    assert (told.lines, told.unread) == (4, 3)
    path.write_text("title,views\nQ42,5\nno number,\n")
    assert read_page_views(path, WANTED).unread == 1, "the head line is none of them"
    path.write_text("nothing here\n")
    with pytest.raises(UsageError, match="no line tells views"):
        read_page_views(path, WANTED)


def row(number: int, **subject: str) -> TieredRow:
    levels = (Level(tiers=(Tier(text="x"),)),)
    return TieredRow(id=str(number), question="q", answers=("x",), levels=levels, question_entity=subject or None)


def test_rows_get_the_views_of_the_entity_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "v.tsv"
    path.write_text("Q42\t1000\nBarack Obama\t20\n")
    rows = [row(1, qid="Q42", text="Barack Obama"), row(2, text="barack Obama"), row(3, text="Nobody"), row(4)]
    told, found, _ = with_page_views(rows, path)
    assert [one.extra.get(FIELD) for one in told] == [1000, 20, None, None], "the id goes before the name"
    assert found == 2
    with pytest.raises(UsageError, match="no row's question_entity has views"):
        with_page_views(rows[2:], path)


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
    path.write_text("".join(f"Q{n},{n}\n" for n in range(1, 10)))
    _, _, told = run("compare", *scored, "--popularity", path)
    assert "page views of 9 of 10 entities asked about\n" in told


def test_sitelinks_stand_in_where_there_are_no_page_views(scored: list[str | Path]) -> None:
    rows = list(read_tiered(str(scored[0])))
    assert with_popularity(rows, []) == (rows, [SITELINKS])


def test_a_figure_that_is_left_out_is_told(scored: list[str | Path], capfd: pytest.CaptureFixture[str]) -> None:
    rows = list(read_tiered(str(scored[0])))[:9]  # fewer than two a bin
    assert with_popularity(rows, []) == (rows, [])
    assert "no figure by popularity: give --popularity FIELD, or FILE" in capfd.readouterr().err
    assert with_popularity(rows, [SITELINKS]) == (rows, [SITELINKS])
    assert capfd.readouterr().err == ""
