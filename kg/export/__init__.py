"""Snapshots written for other programs: RDF, Parquet, and files for Neo4j's import."""
