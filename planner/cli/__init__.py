"""
The command line: one module per command, and a folder per group of commands.

`commands` registers them all and `main` runs them. Imports any package of `planner`.
"""
