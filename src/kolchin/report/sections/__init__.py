"""The sections of the page, one a file."""
