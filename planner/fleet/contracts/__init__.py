"""Contracts of the tables of fleets; imports the schemas of `planner`, never Spark."""
