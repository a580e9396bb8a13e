"""
The problem, arrangements, the objective and the solution, as frozen tables.

Budgets, deadlines and progress reports belong here too. Imports nothing else of the
core.
"""
