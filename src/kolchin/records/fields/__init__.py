"""Fields: how users declare and choose them, and how their values become codes."""
