"""Which entity a text means: candidates, what speaks for each, and how sure that makes a link."""
