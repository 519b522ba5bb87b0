"""Which pairs of records are compared: those that share a key, within a budget."""
