"""
The `plan` commands, one per operation, and `config`, which is about their options.

Imports `cli.common` and `cli.snapshot`.
"""
