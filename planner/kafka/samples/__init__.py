"""
Samples of the records of a topic, read by a consumer without a group.

Imports `client`, `groups`, `read`, and the samples of `planner.keys`.
"""
