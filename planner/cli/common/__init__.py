"""
Options, output, exit codes and progress that several commands share.

Imports nothing else of `planner.cli`.
"""
