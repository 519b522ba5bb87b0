"""A forest of links: links and the parameters that depend on them are drawn at once."""
