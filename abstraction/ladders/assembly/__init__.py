"""From proposals to the tiers of a question: filtering, wording, translating; and joining the ladders of answers."""
