"""
Groups imported from the tables that Kafka's group tools print.

Imports the group's document and problems, and `planner.pasted_text`.
"""
