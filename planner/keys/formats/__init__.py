"""
Readers of samples in files: text, JSON lines, output of console consumers, tables.

Imports the options, rows and types of keys of `planner.keys`.
"""
