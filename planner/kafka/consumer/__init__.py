"""
Assignors for consumers of kafka-python, and the protocol between members.

Imports `assignment` alone.
"""
