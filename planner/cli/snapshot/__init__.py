"""
The `snapshot` commands: show, import, live and synth.

Imports `cli.common`.
"""
