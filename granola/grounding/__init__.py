"""Long answers from passages of which only some are relevant: are they grounded, do they deflect, do they cite?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from granola.grounding.citation_markers import cited_passages
    from granola.grounding.citation_scores import CitationCounts, citation_scores
    from granola.grounding.deflections import deflects
    from granola.grounding.grounded_rows import read_grounded
    from granola.grounding.grounded_samples import GroundedSample, GroundingPassage, Relevance
    from granola.grounding.grounding_items import AnswerVerdict, GroundingItem, SentenceVerdict
    from granola.grounding.grounding_scores import Deflecting, GroundingSettings, grounding_report

__all__ = [
    "AnswerVerdict",
    "CitationCounts",
    "Deflecting",
    "GroundedSample",
    "GroundingItem",
    "GroundingPassage",
    "GroundingSettings",
    "Relevance",
    "SentenceVerdict",
    "citation_scores",
    "cited_passages",
    "deflects",
    "grounding_report",
    "read_grounded",
]
_MODULES = {
    "AnswerVerdict": ".grounding_items",
    "CitationCounts": ".citation_scores",
    "Deflecting": ".grounding_scores",
    "GroundedSample": ".grounded_samples",
    "GroundingItem": ".grounding_items",
    "GroundingPassage": ".grounded_samples",
    "GroundingSettings": ".grounding_scores",
    "Relevance": ".grounded_samples",
    "SentenceVerdict": ".grounding_items",
    "citation_scores": ".citation_scores",
    "cited_passages": ".citation_markers",
    "deflects": ".deflections",
    "grounding_report": ".grounding_scores",
    "read_grounded": ".grounded_rows",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
