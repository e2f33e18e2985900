"""Judges what the consumers of a machine would load: facts in, findings out. Nothing here looks at the disk."""
