"""One snapshot behind HTTP: ladders, links, verdicts and scores under /v1, and a page for people at /."""
