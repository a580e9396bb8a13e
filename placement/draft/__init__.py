"""
The draft that rules and operations fill before the core's problem is made.

Settings of a plan and soft rules belong here. Imports `model` and core types.
"""
