"""What every online source shares: addresses, rate limits and retries, answers kept on disk."""
