"""
`planner.toml`: the options of plans in a file, under the environment's and the line's.

`config_option` says what an option takes, `config_file` reads a file with all of its
problems, `config_example` writes one with comments.
"""
