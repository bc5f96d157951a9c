"""Language models behind a few protocols: chat, and scores of texts; on servers, on this machine, or recorded."""
