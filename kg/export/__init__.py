"""Snapshots read through from one end to the other: written as RDF and Parquet, checked, compared."""
