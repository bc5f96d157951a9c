"""`granola calibrate`: how much support answers need, fitted to questions whose answers are known."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from granola.decoding.decision import Abstaining
from granola.runs.decoding.decoding_settings import AbstainingRule, LinkedTo, ResponseLanguage
from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import AsJson, Force, Linker, LinkerName

if TYPE_CHECKING:
    from abstraction.rows import RejectedRow, TieredRow
    from granola.decoding.calibrating import Fitted, Known, Point
    from granola.decoding.calibration import Calibration


@dataclass(kw_only=True, slots=True)
class Development:
    """The questions that a calibration is fitted to, and what became of the other rows."""

    questions: list[Known] = field(default_factory=list)
    rejected: list[RejectedRow] = field(default_factory=list)
    without_ladder: int = 0
    snapshot: str = ""


@dataclass(frozen=True, kw_only=True)
class CalibrateRun(Run):
    """Fit the support that answers of each fineness need, for a wanted precision or coverage.

    An answer is right where it is a gold answer or in the ladder of its question, at any level. What to expect of other
    questions is measured by leaving out a fifth of these at a time. What cannot be reached is refused.
    """

    verb: ClassVar[str] = "calibrate"

    samples: Annotated[
        str,
        Setting(
            'Responses to a development file\'s questions: rows with "id", "question" and "samples".',
            metavar="SAMPLES",
            positional=True,
        ),
    ]
    tiered: Annotated[str, Setting("The tiered rows of these questions, by id.", metavar="TIERED", positional=True)]
    snapshot: LinkedTo
    out: Annotated[Path, Setting("Where to write the calibration, for `granola aggregate --calibration`.")]
    precision: Annotated[
        float | None, Setting("The wanted share of right answers among those given: answer as much as it allows.")
    ] = None
    coverage: Annotated[
        float | None, Setting("The wanted share of questions answered: answer them as well as it allows.")
    ] = None
    figure: Annotated[
        Path | None,
        Setting(
            "Draw precision against coverage as SVG, beside fixed support and the majority.",
            metavar="FILE",
            recorded=False,
        ),
    ] = None
    as_json: AsJson = False
    abstaining: AbstainingRule = None
    language: ResponseLanguage = "en"
    linker: Linker = LinkerName.QUESTION
    force: Force = False

    def run(self) -> Calibrated:
        """Fit, write the calibration and draw the figure. Raises UsageError, PredictionError where nothing fits."""
        from granola.decoding.calibrating import SHARES, curve, fit, majority, supported
        from granola.report.figures import draw_curves
        from granola.run_record import write_run_record
        from granola.runs.outputs import list_rejects

        self._check()
        abstaining = self.abstaining or Abstaining.MAJORITY
        known = self._development(abstaining)
        listed = list_rejects(self.out, known.rejected)
        fitted = fit(known.questions, precision=self.precision, coverage=self.coverage)
        calibration = replace(fitted.calibration, abstaining=abstaining)
        evidence = {
            "questions": fitted.questions, "wanted": {"precision": self.precision, "coverage": self.coverage},
            "reached": asdict(fitted.point), "left out": fitted.left_out and asdict(fitted.left_out),
        }  # fmt: skip
        calibration.write(self.out, evidence=evidence)
        curves = {
            "calibrated": fitted.curve,
            "fixed support": curve(known.questions, ((share, supported(share)) for share in SHARES)),
            "majority": curve(known.questions, ((share, majority(share)) for share in SHARES)),
        }
        write_run_record(
            self.out,
            command=self.verb,
            arguments={**self.arguments(), "abstaining": abstaining},
            inputs=[self.samples, self.tiered, self.snapshot],
            more={"snapshot": known.snapshot, "rejected": len(known.rejected), "questions": fitted.questions},
        )
        if self.figure is not None:
            self.figure.write_text(draw_curves(curves, chosen=fitted.point), encoding="utf-8")
        return Calibrated(
            settings=self, fitted=fitted, calibration=calibration, evidence=evidence, curves=curves, known=known,
            listed=listed,
        )  # fmt: skip

    def _check(self) -> None:
        from granola.errors import UsageError
        from granola.report.figures import check_drawing
        from granola.run_record import SUFFIX as RECORD_SUFFIX
        from granola.runs.outputs import REJECTS_SUFFIX, check_language, check_outputs

        check_language(self.language)
        if (self.precision is None) == (self.coverage is None):
            raise UsageError("give either --precision or --coverage, as in --precision 0.9")
        wanted = self.precision if self.coverage is None else self.coverage
        if wanted is None or not 0.0 < wanted <= 1.0:
            raise UsageError(f"{wanted:g} is no share; give one above 0 and up to 1")
        if self.abstaining is Abstaining.PASS:
            raise UsageError("--abstaining pass is drag's; give majority, ignore or against")
        inputs = [self.samples, self.tiered, self.snapshot]
        if self.figure is not None:
            check_drawing()
            check_outputs(self.figure, inputs=[*inputs, self.out], force=self.force, asked="--figure")
        check_outputs(self.out, inputs=inputs, sides=(RECORD_SUFFIX, REJECTS_SUFFIX), force=self.force)

    def _development(self, abstaining: Abstaining) -> Development:
        """The rows whose answers are known, with what their responses entail."""
        from abstraction.faults import Fault, attempt
        from granola.decoding import Aggregator, read_samples
        from granola.decoding.calibrating import in_ladder, known
        from granola.matching import matcher
        from granola.runs.outputs import warn_of_language
        from granola.scoring.tiered_file import read_tiered_file
        from kg.store import open_store

        rules = matcher("rules", language=self.language)
        gold: dict[str, TieredRow] = {row.id: row for row in read_tiered_file(self.tiered).rows}
        development = Development()
        reject = development.rejected.append
        with closing(open_store(self.snapshot)) as store:
            warn_of_language(self.language, store)
            rows = read_samples(self.samples, on_reject=reject)
            aggregator = Aggregator(store, language=self.language, linker=self.linker)
            for row, counted in aggregator.tallies(rows, on_reject=reject):
                answer = gold.get(row.id)
                if answer is None:
                    development.without_ladder += 1
                    continue
                question = attempt("matching", known, counted, in_ladder(answer, rules), abstaining)
                if isinstance(question, Fault):
                    reject(question.rejected(source=row.source, id=row.id, text=row.question))
                else:
                    development.questions.append(question)
            development.snapshot = str(store.manifest()["snapshot_id"])
        return development


@dataclass(frozen=True, kw_only=True, slots=True)
class Calibrated:
    """A calibration with what it reaches, on its questions and on those left out of the fit."""

    settings: CalibrateRun
    fitted: Fitted
    calibration: Calibration
    evidence: Mapping[str, Any]
    curves: Mapping[str, Sequence[Point]]
    known: Development
    listed: Path | None

    @property
    def failed(self) -> bool:
        """Whether rows were rejected."""
        return bool(self.known.rejected)

    def show(self) -> None:
        """The figures in words or as JSON."""
        from granola.runs.outputs import report_rejects
        from granola.terminal_lines import TextTable, show_lines

        if self.settings.as_json:
            print(json.dumps(self.to_json()))
        else:
            questions, unknown = self.fitted.questions, self.known.without_ladder
            show_lines(
                f"{questions:,} questions" + (f"; {unknown:,} without a ladder left out" if unknown else ""),
                TextTable(rows=list(self._lines()), words=(1,)),
            )
        report_rejects(self.settings.samples, self.known.rejected, listed=self.listed)

    def to_json(self) -> dict[str, Any]:
        """Everything, the curves too."""
        return {
            **self.evidence,
            "without_ladder": self.known.without_ladder,
            "precision_interval": asdict(self.fitted.precision),
            "coverage_interval": asdict(self.fitted.coverage),
            "support_demanded": self.calibration.table(),
            "least": self.calibration.least,
            "curves": {name: [asdict(point) for point in points] for name, points in self.curves.items()},
        }

    def _lines(self) -> Iterator[tuple[str, str]]:
        point, other = self.fitted.point, self.fitted.left_out
        yield "right of the answered", f"{point.precision:.3f}"
        yield "answered", f"{point.coverage:.3f}"
        if other is None:
            yield "on questions left out", "nothing is answered"
        else:
            right, covered = self.fitted.precision, self.fitted.coverage
            yield "on questions left out", f"{other.precision:.3f} right  [{right.low:.3f}, {right.high:.3f}]"
            yield "", f"{other.coverage:.3f} answered  [{covered.low:.3f}, {covered.high:.3f}]"
        shares = ", ".join(f"{bits} {need:g}" for bits, need in self.calibration.table().items())
        least = self.calibration.least
        second = "" if least is None else f"; else the surest, from {least:g} at 0 bits"
        yield "support demanded", f"{shares}{second}"
