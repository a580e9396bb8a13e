"""
Simulation of events on a group: the events file, the runs and their screen.

Imports `planner.group`.
"""
