"""
The `fleet` commands: ingest, score, plan, changes, trends and overview.

Imports `cli.common`, `cli.plan`, and the commands `score` and `what-if`.
"""
