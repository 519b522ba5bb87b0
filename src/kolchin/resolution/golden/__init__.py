"""Golden records: one row an entity, its best values."""
