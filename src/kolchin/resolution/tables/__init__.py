"""What comes into a run: the table, known answers, the truth, numbers of entities."""
