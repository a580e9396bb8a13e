"""
`planner.toml`: options of plans in a file; command line and environment override it.

`config_option` parses the values of an option, `config_file` reads a file and collects
its problems, `config_example` writes a file with comments.
"""
