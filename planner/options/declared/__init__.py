"""
The options of a plan, each declared once, with its type, help, parser and default.

The command line, the environment and `planner.toml` are derived from
`plan_options.PlanOptions`. Imports `planner.errors` and `planner.text`, and the rest
inside functions: every command reads the declaration when it starts.
"""
