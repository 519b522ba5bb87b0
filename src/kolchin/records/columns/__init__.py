"""What each column holds: its values cleaned, its kind, its part in the table."""
