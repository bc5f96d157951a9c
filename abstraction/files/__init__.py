"""Files of rows: reading and writing records in any format, and validating their fields."""
