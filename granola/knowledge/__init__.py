"""Knowledge texts judged from six sides (CONNER, Chen et al. 2023), chosen by that, and compared with ratings."""

from granola.knowledge.evidence_pieces import EvidenceSource, ItemPieces, VectorIndex, WordIndex
from granola.knowledge.knowledge_items import KnowledgeItem, read_items
from granola.knowledge.knowledge_judge import AnswerForm, JudgeModels, JudgeSettings, KnowledgeJudge, ScoredKnowledge
from granola.knowledge.knowledge_metrics import Aggregation
from granola.knowledge.knowledge_prompts import read_knowledge_prompts
from granola.knowledge.rank_association import Association, somers_d

__all__ = [
    "Aggregation",
    "AnswerForm",
    "Association",
    "EvidenceSource",
    "ItemPieces",
    "JudgeModels",
    "JudgeSettings",
    "KnowledgeItem",
    "KnowledgeJudge",
    "ScoredKnowledge",
    "VectorIndex",
    "WordIndex",
    "read_items",
    "read_knowledge_prompts",
    "somers_d",
]
