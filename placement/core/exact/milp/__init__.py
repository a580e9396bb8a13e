"""
Mixed-integer programs of small problems and of subproblems of two to four bins.

Imports `core.model`, `core.bounds` and `core.exact` (PuLP and HiGHS).
"""
