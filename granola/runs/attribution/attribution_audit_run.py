"""`granola attribution audit`: do the texts of a benchmark say their facts, all of them and nothing else?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from abstraction.files.writing import check_kind
from granola.errors import UsageError
from granola.runs.outputs import check_outputs, count, print_json, report_rejects
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import AsJson
from granola.terminal_lines import TextTable, show_lines

if TYPE_CHECKING:
    from abstraction.rows import RejectedRow
    from granola.attribution.text_checks import TextCoverage


@dataclass(frozen=True, kw_only=True)
class AttributionAuditRun(Run):
    """Check whether citations and questions cover their facts; draw a sheet for people, or read filled ones.

    Each text covers its facts fully, misses one of them (absent), or has a name that is in none (hallucinated).
    """

    verb: ClassVar[str] = "attribution audit"

    files: Annotated[
        tuple[Path, ...],
        Setting("Files of samples; with --annotated, filled sheets.", metavar="FILE...", positional=True),
    ]
    sheet: Annotated[Path | None, Setting("Write a CSV sheet for people to this file.")] = None
    number: Annotated[int, Setting("With --sheet: so many citations, and as many questions.", flag="--n", least=1)] = 50
    seed: Annotated[int, Setting("Seed of the draw.", least=0)] = 0
    annotated: Annotated[bool, Setting("Read filled sheets: shares with intervals, and agreement.")] = False
    force: Annotated[bool, Setting("Replace the file of --sheet if it exists.", recorded=False)] = False
    as_json: AsJson = False

    def run(self) -> TextsAudited:
        """Check, draw or read. Raises UsageError for settings that do not go together."""
        from granola.attribution.text_sheets import read_text_sheet, text_rates

        if self.annotated:
            if self.sheet is not None:
                raise UsageError("--annotated reads sheets, --sheet writes one: give one of them")
            rates = text_rates([read_text_sheet(path) for path in self.files])
            return TextsAudited(settings=self, counts={}, rates=rates)
        return self._checked()

    def _checked(self) -> TextsAudited:
        from granola.attribution.attribution_samples import read_samples
        from granola.attribution.model_wording import automatic_coverage
        from granola.attribution.text_sheets import drawn_texts, write_text_sheet

        if self.sheet is not None:
            check_outputs(self.sheet, inputs=self.files, force=self.force, asked="--sheet")
            check_kind(self.sheet, "csv")
        rejected: list[RejectedRow] = []
        samples = [sample for path in self.files for sample in read_samples(path, on_reject=rejected.append)]
        counts: dict[str, Counter[TextCoverage]] = {"citation": Counter(), "question": Counter()}
        for sample in samples:
            for kind, _, label in automatic_coverage(sample):
                counts[kind][label] += 1
        if not any(counts.values()):
            raise UsageError(f"{self.files[0]}: no sample with facts in it; name a file of granola attribution build")
        if self.sheet is not None:
            write_text_sheet(drawn_texts(samples, self.number, seed=self.seed), self.sheet)
        return TextsAudited(settings=self, counts=counts, rejected=rejected)


@dataclass(frozen=True, kw_only=True, slots=True)
class TextsAudited:
    """Texts by how they cover their facts, or the rates of sheets."""

    settings: AttributionAuditRun
    counts: Mapping[str, Counter[TextCoverage]]
    rates: Mapping[str, Any] | None = None
    rejected: Sequence[RejectedRow] = ()

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return bool(self.rejected)

    def show(self) -> None:
        """The shares."""
        if self.rates is not None:
            self._show_rates(self.rates)
            return
        if self.settings.as_json:
            print_json(
                {kind: {str(k): n for k, n in label_counts.items()} for kind, label_counts in self.counts.items()},
                indent=1,
            )
        else:
            for kind, label_counts in self.counts.items():
                rows = [
                    (f"{number:>8,}", f"{number / label_counts.total():.1%}", str(label))
                    for label, number in label_counts.most_common()
                ]
                show_lines(
                    f"{count(label_counts.total(), kind)}, by an automatic check of names:",
                    TextTable(rows=rows, words=(2,)),
                )
            if self.settings.sheet is not None:
                fill = f"{self.settings.sheet}: fill the column label in, then granola attribution audit --annotated"
                show_lines("", fill)
        report_rejects(str(self.settings.files[0]), self.rejected)

    def _show_rates(self, rates: Mapping[str, Any]) -> None:
        if self.settings.as_json:
            print_json(_without_nan(rates), indent=1)
            return
        for name, shares in {**rates["readers"], "automatic": rates["automatic"]}.items():
            rows = [
                (label, f"{cell['share']:.1%}", f"[{cell['low']:.1%}, {cell['high']:.1%}]")
                for label, cell in shares.items()
                if label != "n"
            ]
            show_lines(f"{name}, {count(shares['n'], 'text')}:", TextTable(rows=rows, words=(2,), indent=2))
        show_lines(
            f"kappa of readers {rates['kappa']:.3f} over {count(rates['marked_by_all'], 'text')}",
            f"kappa of the check and the first reader {rates['kappa_of_check_and_first_reader']:.3f}",
            "paper: full coverage 92 % and 95 % by two readers of 100 texts, kappa 0.758 (Hu et al. 2025, section 4.2)",
        )


def _without_nan(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nan(one) for key, one in value.items()}
    return None if isinstance(value, float) and value != value else value
