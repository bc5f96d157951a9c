"""What the evidence rooms (attribution, grounding, knowledge) have in common: several judges of the same items."""

from granola.evidence.judge_pools import JudgePool, pool_judges

__all__ = ["JudgePool", "pool_judges"]
