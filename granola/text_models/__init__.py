"""Models that score texts: entailment, relevance, log-probabilities, coherence; local weights and servers."""

from granola.text_models.entailment import Entailment, EntailmentModel, TextPair

__all__ = ["Entailment", "EntailmentModel", "TextPair"]
