"""Evidence tasks (attribution, grounding, knowledge): sheets, pooled judges, estimates by slice, tables."""
