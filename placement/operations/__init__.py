"""
Operations: one module for each, with its allowed moves and its own decisions.

An operation is data: it fills a draft. Imports `model`, `draft`, `rules` and
`operations.steps`.
"""
