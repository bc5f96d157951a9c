"""A snapshot file held against itself, against another, or against its mirror in Neo4j."""
