"""Every verb of the command line as a value: its settings, checked, and what running it brings.

```python

scored.report.overall.estimates["granola_accuracy"].value
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from granola.runs.attribution.attribution_audit_run import AttributionAuditRun
    from granola.runs.attribution.attribution_build_run import AttributionBuildRun
    from granola.runs.attribution.attribution_check_run import AttributionCheckRun
    from granola.runs.attribution.attribution_evaluate_run import AttributionEvaluateRun
    from granola.runs.attribution.attribution_train_run import AttributionTrainRun
    from granola.runs.decoding.aggregate_run import AggregateRun
    from granola.runs.decoding.answer_run import AnswerRun
    from granola.runs.decoding.experiment_run import ExperimentRun
    from granola.runs.demo_run import DemoRun
    from granola.runs.grounding.grounding_answer_run import GroundingAnswerRun
    from granola.runs.grounding.grounding_describe_run import GroundingDescribeRun
    from granola.runs.grounding.grounding_judge_run import GroundingJudgeRun
    from granola.runs.grounding.grounding_score_run import GroundingScoreRun
    from granola.runs.knowledge.knowledge_choose_run import KnowledgeChooseRun
    from granola.runs.knowledge.knowledge_correlate_run import KnowledgeCorrelateRun
    from granola.runs.knowledge.knowledge_describe_run import KnowledgeDescribeRun
    from granola.runs.knowledge.knowledge_generate_run import KnowledgeGenerateRun
    from granola.runs.knowledge.knowledge_judge_run import KnowledgeJudgeRun
    from granola.runs.knowledge.knowledge_rate_run import KnowledgeRateRun
    from granola.runs.ladders.audit_run import AuditRun
    from granola.runs.ladders.dataset_run import DatasetRun
    from granola.runs.ladders.guess_run import GuessRun
    from granola.runs.ladders.ladder_run import LadderRun
    from granola.runs.ladders.tiers_run import TiersRun
    from granola.runs.scores.report_run import ReportRun
    from granola.runs.serve_run import ServeRun
    from granola.runs.settings import Run, RunOutcome, Setting
    from granola.runs.snapshots.build_run import BuildRun
    from granola.runs.snapshots.diff_run import DiffRun
    from granola.runs.snapshots.export_run import ExportRun
    from granola.runs.snapshots.info_run import InfoRun
    from granola.runs.snapshots.push_run import PushRun
    from granola.runs.snapshots.spark_run import SparkRun
    from granola.runs.snapshots.verify_run import VerifyRun

__all__ = [
    "AggregateRun",
    "AnswerRun",
    "AttributionAuditRun",
    "AttributionBuildRun",
    "AttributionCheckRun",
    "AttributionEvaluateRun",
    "AttributionTrainRun",
    "AuditRun",
    "BuildRun",
    "DatasetRun",
    "DemoRun",
    "DiffRun",
    "ExperimentRun",
    "ExportRun",
    "GroundingAnswerRun",
    "GroundingDescribeRun",
    "GroundingJudgeRun",
    "GroundingScoreRun",
    "GuessRun",
    "InfoRun",
    "KnowledgeChooseRun",
    "KnowledgeCorrelateRun",
    "KnowledgeDescribeRun",
    "KnowledgeGenerateRun",
    "KnowledgeJudgeRun",
    "KnowledgeRateRun",
    "LadderRun",
    "PushRun",
    "ReportRun",
    "Run",
    "RunOutcome",
    "ServeRun",
    "Setting",
    "SparkRun",
    "TiersRun",
    "VerifyRun",
]
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
