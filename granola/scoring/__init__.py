"""How good are predictions? Items, metrics, intervals over questions, comparisons, and what a signature says."""
