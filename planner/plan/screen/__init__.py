"""
The screen of a plan: tables, log dirs, and the trade-off of bytes.

Imports `run`, `documents`, `folder` and `planner.text`.
"""
