"""
Improvement of an answer by exact methods, and the order in which they are tried.

Imports all of `core.exact`, and `core.certificate`.
"""
