"""Which proposals become tiers, and their wording: filters, wording, translation; and one ladder from those of several
answers.
"""
