"""The parts shared by all online sources: addresses, rate limits and retries, answers cached on disk."""
