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
    from granola.runs.settings import Run, RunOutcome, Setting

__all__ = [
    "AttributionAuditRun",
    "AttributionBuildRun",
    "AttributionCheckRun",
    "AttributionEvaluateRun",
    "AttributionTrainRun",
    "GroundingAnswerRun",
    "GroundingDescribeRun",
    "GroundingJudgeRun",
    "GroundingScoreRun",
    "KnowledgeChooseRun",
    "KnowledgeCorrelateRun",
    "KnowledgeDescribeRun",
    "KnowledgeGenerateRun",
    "KnowledgeJudgeRun",
    "KnowledgeRateRun",
    "Run",
    "RunOutcome",
    "Setting",
]
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
