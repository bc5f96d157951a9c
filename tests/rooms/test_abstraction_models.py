"""Chat models behind one protocol: here recorded answers."""

from __future__ import annotations

import json
from pathlib import Path

from abstraction.models import Message, Reply, Request, open_model, parse_model_spec


def test_a_word_names_a_model() -> None:
    spec = parse_model_spec("openai:http://127.0.0.1:8000/v1#small")
    assert (spec.kind, spec.name) == ("openai", "small")


def test_recorded_answers_are_played_again(tmp_path: Path) -> None:
    request = Request(id="1", messages=(Message(role="user", content="Where was Barack Obama born?"),))
    recorded = tmp_path / "answers.jsonl"
    recorded.write_text(json.dumps({"prompt": "Where was Barack Obama born?", "answers": ["Honolulu"]}) + "\n")
    model = open_model(f"replay:{recorded}")
    (result,) = model.generate([request])
    model.close()
    assert isinstance(result, Reply)
    assert result.completions[0].text == "Honolulu"
