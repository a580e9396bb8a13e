"""
Growth of a topic: keys that move, facts of the topic, and the document.

Imports samples, types and skew of `planner.keys`, and `planner.snapshot`.
"""
