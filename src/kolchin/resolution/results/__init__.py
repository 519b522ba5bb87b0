"""What comes out of a run: a result, its summary, its explanations."""
