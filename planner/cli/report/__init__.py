"""
The command `report`, and the option `--report` of other commands.

Imports the options and outputs of `planner.cli.common`, and the reports of `planner`.
"""
