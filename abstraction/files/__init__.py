"""Files of rows: records in and out, whatever the format, and what their fields say."""
