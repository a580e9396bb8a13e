"""
Group files, and groups from the tables that Kafka's group tools print.

Imports the document and problems of a group, `planner.io`, `planner.pasted_text` and
`planner.text`.
"""
