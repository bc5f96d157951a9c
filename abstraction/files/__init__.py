"""Files of questions and tiered rows: records in and out, whatever the format."""
