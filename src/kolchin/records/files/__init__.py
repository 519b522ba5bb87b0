"""Files and tables of any kind become frames of text."""
