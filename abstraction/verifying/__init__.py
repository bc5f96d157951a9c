"""Checking tiers, whoever made them: does each follow from its evidence, and is it what a tier should be?"""
