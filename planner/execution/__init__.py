"""
Execution of plans: stages, admission of copies, and what stops them.

Imports `plan/input`, `verify` and `snapshot`; knows no screen and no command line.
"""
