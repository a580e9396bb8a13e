"""
Planning: encode a draft as the core's problem, solve it, and decode the answer.

Imports every package of `placement` but `explain`, `scenarios`, `sizing` and `waves`.
"""
