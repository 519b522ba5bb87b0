"""What moves are proposed on: candidate pairs, and what warm-up learns of them."""
