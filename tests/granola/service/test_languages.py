"""Languages that a snapshot has nothing in: a program is refused, whoever looks at the page is told."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
import requests

from kg.building.snapshot import build
from tests.granola.service.conftest import DEMO, OBAMA, Running, session_of


def test_a_language_is_spoken_where_dates_are_written_or_names_are_had_in_it(tmp_path: Path) -> None:
    data = json.loads((DEMO / "wikidata.json").read_text("utf-8"))
    data[0]["labels"]["bar"] = {"language": "bar", "value": "Nome"}
    (tmp_path / "data.json").write_text("[\n" + ",\n".join(map(json.dumps, data)) + "\n]\n")
    build([tmp_path / "data.json"], tmp_path / "all.sqlite")
    build([tmp_path / "data.json"], tmp_path / "some.sqlite", languages=["fr"])
    for name, spoken in (("all", {"bar", "bar-at", "mul"}), ("some", {"mul"})):
        with closing(session_of(tmp_path / f"{name}.sqlite")) as session:
            for code in ("en", "en-gb", "de-at", "fr", "pt", "zh-hant"):
                assert session.supports_language(code), code
            codes = ("bar", "bar-at", "mul", "zz", "tlh", "aaa-bb")
            found = {code for code in codes if session.supports_language(code)}
            assert found == spoken


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/ladder", {**OBAMA, "language": "zz"}),
        ("/v1/link", {**OBAMA, "language": "zz"}),
        ("/v1/ladders?language=zz", OBAMA),
        ("/v1/aggregate", {"question": OBAMA["question"], "samples": ["Honolulu"], "language": "zz"}),
        ("/v1/match", {"levels": [["Hawaii"]], "predictions": ["Hawaii"], "language": "zz"}),
        ("/v1/entity/Q76?language=zz", None),
        ("/v1/search?name=Honolulu&language=zz", None),
    ],
)
def test_others_are_refused_with_those_there_are(service: Running, path: str, body: object) -> None:
    got = requests.request("POST" if body else "GET", service.address + path, json=body, timeout=10)
    assert (got.status_code, got.json()["code"]) == (422, "language")
    assert "'zz'" in got.json()["detail"]
    assert "de, en, es, fr" in got.json()["detail"]
    well = requests.request(
        "POST" if body else "GET",
        service.address + path.replace("zz", "de"),
        json=json.loads(json.dumps(body).replace("zz", "de")),
        timeout=10,
    )
    assert well.status_code == 200
