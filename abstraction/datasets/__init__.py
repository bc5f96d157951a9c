"""Whole datasets of answers at several granularities: questions and a snapshot in, a folder to publish out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.lazy_names import lazy_names

if TYPE_CHECKING:
    from abstraction.datasets.building import DatasetSettings, build_dataset
    from abstraction.datasets.card import Card
    from abstraction.datasets.dataset_cleaning import Cleaner, CleaningStep
    from abstraction.datasets.questions import EntityQuestions, QuestionFiles

__all__ = [
    "Card",
    "Cleaner",
    "CleaningStep",
    "DatasetSettings",
    "EntityQuestions",
    "QuestionFiles",
    "build_dataset",
]
_MODULES = {
    "Card": ".card",
    "Cleaner": ".dataset_cleaning",
    "CleaningStep": ".dataset_cleaning",
    "DatasetSettings": ".building",
    "EntityQuestions": ".questions",
    "QuestionFiles": ".questions",
    "build_dataset": ".building",
}
if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _MODULES)
