"""
Columns of the search state that are written once, before the first step.

Imports `core.model` alone.
"""
