"""Shards: parts of a table in which moves are made beside each other, wherever that is."""
