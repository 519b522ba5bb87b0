"""A run while it goes on: its settings, directory, progress and session."""
