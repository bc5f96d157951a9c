"""Entity linking: candidates, the evidence for each, and the confidence of a link."""
