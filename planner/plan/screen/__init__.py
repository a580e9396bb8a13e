"""
The screen of a plan: tables, log dirs, and what fewer bytes would cost.

Imports `run`, `documents`, `folder` and `planner.text`.
"""
