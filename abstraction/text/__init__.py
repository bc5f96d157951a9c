"""Texts as data: languages, descriptions, and what questions ask for."""
