"""Compiled code of draws and summaries: arrays in, arrays out."""
