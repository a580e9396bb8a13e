"""
The `keys` commands: skew over partitions, and what growing a topic moves.

Imports libraries inside functions, like every package of commands.
"""
