"""Every verb of the command line as a value: its settings, checked, and what running it brings.

```python
from granola.runs import ScoreRun

scored = ScoreRun(tiered="tiers.jsonl", predictions="mine.jsonl").run()
scored.report.overall.estimates["granola_accuracy"].value
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from granola.runs.aggregate_run import AggregateRun
    from granola.runs.answer_run import AnswerRun
    from granola.runs.attribution_audit_run import AttributionAuditRun
    from granola.runs.attribution_build_run import AttributionBuildRun
    from granola.runs.attribution_check_run import AttributionCheckRun
    from granola.runs.attribution_evaluate_run import AttributionEvaluateRun
    from granola.runs.attribution_train_run import AttributionTrainRun
    from granola.runs.audit_run import AuditRun
    from granola.runs.build_run import BuildRun
    from granola.runs.calibrate_run import CalibrateRun
    from granola.runs.check_run import CheckRun
    from granola.runs.compare_run import CompareRun
    from granola.runs.dataset_run import DatasetRun
    from granola.runs.demo_run import DemoRun
    from granola.runs.diff_run import DiffRun
    from granola.runs.experiment_run import ExperimentRun
    from granola.runs.export_run import ExportRun
    from granola.runs.grounding_answer_run import GroundingAnswerRun
    from granola.runs.grounding_describe_run import GroundingDescribeRun
    from granola.runs.grounding_draw_run import GroundingDrawRun
    from granola.runs.grounding_judge_run import GroundingJudgeRun
    from granola.runs.grounding_pool_run import GroundingPoolRun
    from granola.runs.grounding_score_run import GroundingScoreRun
    from granola.runs.guess_run import GuessRun
    from granola.runs.import_run import ImportRun
    from granola.runs.info_run import InfoRun
    from granola.runs.knowledge_choose_run import KnowledgeChooseRun
    from granola.runs.knowledge_correlate_run import KnowledgeCorrelateRun
    from granola.runs.knowledge_describe_run import KnowledgeDescribeRun
    from granola.runs.knowledge_draw_run import KnowledgeDrawRun
    from granola.runs.knowledge_generate_run import KnowledgeGenerateRun
    from granola.runs.knowledge_judge_run import KnowledgeJudgeRun
    from granola.runs.knowledge_rate_run import KnowledgeRateRun
    from granola.runs.knowledge_surprise_run import KnowledgeSurpriseRun
    from granola.runs.ladder_run import LadderRun
    from granola.runs.match_run import MatchRun
    from granola.runs.perturb_run import PerturbRun
    from granola.runs.push_run import PushRun
    from granola.runs.report_run import ReportRun
    from granola.runs.score_run import ScoreRun
    from granola.runs.serve_run import ServeRun
    from granola.runs.settings import Run, RunOutcome, Setting
    from granola.runs.spark_run import SparkRun
    from granola.runs.targets_run import TargetsRun
    from granola.runs.tiers_run import TiersRun
    from granola.runs.verify_run import VerifyRun

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
    "CalibrateRun",
    "CheckRun",
    "CompareRun",
    "DatasetRun",
    "DemoRun",
    "DiffRun",
    "ExperimentRun",
    "ExportRun",
    "GroundingAnswerRun",
    "GroundingDescribeRun",
    "GroundingDrawRun",
    "GroundingJudgeRun",
    "GroundingPoolRun",
    "GroundingScoreRun",
    "GuessRun",
    "ImportRun",
    "InfoRun",
    "KnowledgeChooseRun",
    "KnowledgeCorrelateRun",
    "KnowledgeDescribeRun",
    "KnowledgeDrawRun",
    "KnowledgeGenerateRun",
    "KnowledgeJudgeRun",
    "KnowledgeRateRun",
    "KnowledgeSurpriseRun",
    "LadderRun",
    "MatchRun",
    "PerturbRun",
    "PushRun",
    "ReportRun",
    "Run",
    "RunOutcome",
    "ScoreRun",
    "ServeRun",
    "Setting",
    "SparkRun",
    "TargetsRun",
    "TiersRun",
    "VerifyRun",
]
_MODULES = {
    "AggregateRun": ".aggregate_run",
    "AnswerRun": ".answer_run",
    "AttributionAuditRun": ".attribution_audit_run",
    "AttributionBuildRun": ".attribution_build_run",
    "AttributionCheckRun": ".attribution_check_run",
    "AttributionEvaluateRun": ".attribution_evaluate_run",
    "AttributionTrainRun": ".attribution_train_run",
    "AuditRun": ".audit_run",
    "BuildRun": ".build_run",
    "CalibrateRun": ".calibrate_run",
    "CheckRun": ".check_run",
    "CompareRun": ".compare_run",
    "DatasetRun": ".dataset_run",
    "DemoRun": ".demo_run",
    "DiffRun": ".diff_run",
    "ExperimentRun": ".experiment_run",
    "ExportRun": ".export_run",
    "GroundingAnswerRun": ".grounding_answer_run",
    "GroundingDescribeRun": ".grounding_describe_run",
    "GroundingDrawRun": ".grounding_draw_run",
    "GroundingPoolRun": ".grounding_pool_run",
    "GroundingJudgeRun": ".grounding_judge_run",
    "GroundingScoreRun": ".grounding_score_run",
    "GuessRun": ".guess_run",
    "ImportRun": ".import_run",
    "InfoRun": ".info_run",
    "KnowledgeChooseRun": ".knowledge_choose_run",
    "KnowledgeCorrelateRun": ".knowledge_correlate_run",
    "KnowledgeDescribeRun": ".knowledge_describe_run",
    "KnowledgeDrawRun": ".knowledge_draw_run",
    "KnowledgeGenerateRun": ".knowledge_generate_run",
    "KnowledgeJudgeRun": ".knowledge_judge_run",
    "KnowledgeRateRun": ".knowledge_rate_run",
    "KnowledgeSurpriseRun": ".knowledge_surprise_run",
    "LadderRun": ".ladder_run",
    "MatchRun": ".match_run",
    "PerturbRun": ".perturb_run",
    "PushRun": ".push_run",
    "ReportRun": ".report_run",
    "Run": ".settings",
    "RunOutcome": ".settings",
    "ScoreRun": ".score_run",
    "ServeRun": ".serve_run",
    "Setting": ".settings",
    "SparkRun": ".spark_run",
    "TargetsRun": ".targets_run",
    "TiersRun": ".tiers_run",
    "VerifyRun": ".verify_run",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
