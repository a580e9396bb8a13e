"""Failures of a snapshot: one scenario in stages, or all of them at once."""
