"""A run: chains side by side, from their starts to the last draw, stopped and taken up again."""
