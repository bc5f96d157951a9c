"""Snapshots written for other programs: RDF and Parquet."""
