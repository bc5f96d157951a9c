"""What the evidence rooms (attribution, grounding, knowledge) share: judges are pooled, verdicts are drawn by slice."""
