"""
The draft that rules and operations fill before the core's problem is made.

Settings of a plan, soft rules and caps on topics belong here. Imports `model` and core
types.
"""
