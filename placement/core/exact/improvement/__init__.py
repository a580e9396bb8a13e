"""
Improvement of an answer by exact methods, and the order of these methods.

Imports all of `core.exact`.
"""
