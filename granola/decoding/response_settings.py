"""Settings for several responses to one question, in `granola answer`, `granola aggregate` and the service."""

from __future__ import annotations

from typing import Annotated

from granola.base.settings import Setting
from granola.decoding.decision import Abstaining
from granola.decoding.self_consistency import Counting

CountedAs = Annotated[
    Counting,
    Setting(
        "self-consistency: what counts as the same answer: its words, what they name, or what follows from them.",
        advanced=True,
    ),
]
AbstainingRule = Annotated[
    Abstaining | None,
    Setting(
        "How declining responses count. ignore: not at all; vote: for IDK, where more decline than entail the answer; "
        "against: as responses that entail nothing; pass: drag's model sees them. Default: pass for drag, else ignore.",
        advanced=True,
    ),
]
ResponseLanguage = Annotated[str, Setting("Language of the responses and of the predictions.")]
