"""From proposals to the levels of a ladder: filtering, merging, ordering, joining and translating."""
