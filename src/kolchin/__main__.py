"""``python -m kolchin`` is the command."""

from kolchin.cli import main

main()
