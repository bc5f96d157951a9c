"""What the paper's evaluators reached: Table 5 of Hu et al. 2025 (CAQA), some rows of each setting.

Its data is Freebase in the words of GPT-3.5; ours is another set: the rows stand beside our figures, not against them.
"""

from __future__ import annotations

COLUMNS = ("supportive", "partially supportive", "contradictory", "irrelevant", "overall")
NOT_COMPARABLE = (
    "The paper's rows are of its own test set: Freebase, texts by GPT-3.5, 23,963 samples (3,000 for GPT models). Here "
    "facts are WikiData's and texts are templates', unless a model worded them: easier to read, and another difficulty."
)
# Setting and evaluator: F1 of the four categories, micro-F1 overall; None where the evaluator has no such class.
TABLE_5: dict[tuple[str, str], tuple[float | None, ...]] = {
    ("zero-shot", "GPT-4o"): (0.769, 0.445, 0.598, 0.626, 0.630),
    ("zero-shot", "Qwen-2.5 (14B)"): (0.680, 0.132, 0.708, 0.660, 0.617),
    ("zero-shot", "LLaMA-3.1 (8B)"): (0.544, 0.049, 0.130, 0.017, 0.318),
    ("few-shot", "GPT-4"): (0.794, 0.520, 0.728, 0.653, 0.680),
    ("fine-tuned", "Vicuna (13B)"): (0.942, 0.923, 0.939, 0.923, 0.933),
    ("existing", "AttrScore (13B)"): (0.687, None, 0.523, 0.541, 0.521),
    ("existing", "AutoIS (11B)"): (0.609, None, None, None, None),
}
