"""How long chains take to converge, what a move costs, and whether model or mixing is at fault."""
