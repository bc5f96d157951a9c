"""Audits of tiered files: the paper's three axes by the graph, evidence replayed, and annotation sheets for people."""
