"""
The `group` commands: assign, show, offsets and what-if.

Imports `cli.common` and `cli.snapshot`.
"""
