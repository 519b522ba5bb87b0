"""From pairs of records to levels, and how often unrelated records reach each level."""
