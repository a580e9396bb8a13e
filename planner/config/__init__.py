"""
`planner.toml`: the options of plans in a file, under the environment's and the line's.

`option` says what an option takes, `file` reads a file with all of its problems,
`example` writes one with comments.
"""
